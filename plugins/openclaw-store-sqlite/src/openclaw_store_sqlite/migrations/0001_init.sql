-- Version 1: the journal, the session index, the task ledger, the audit index.
-- Times are epoch milliseconds. Wide columns stand last, so that scans need not read them.

CREATE TABLE inbox (
  ord INTEGER PRIMARY KEY,
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  event_key TEXT NOT NULL,
  run_id TEXT NOT NULL UNIQUE,
  session_key TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  sender TEXT NOT NULL,
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  thread TEXT NOT NULL,
  owner TEXT,
  task_id TEXT,
  received_at INTEGER NOT NULL,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL DEFAULT 0,
  error TEXT NOT NULL DEFAULT '',
  body TEXT NOT NULL,
  UNIQUE (channel, account, event_key)
);
CREATE INDEX inbox_open ON inbox (session_key, ord) WHERE state IN ('new', 'running');

CREATE TABLE cursors (
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (channel, account)
) WITHOUT ROWID;

-- held = 1 while an owner works on the run; a run that was given back is active but not held.
CREATE TABLE runs (
  seq INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL UNIQUE,
  session_key TEXT NOT NULL,
  session_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  owner TEXT NOT NULL,
  held INTEGER NOT NULL,
  status TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  task_id TEXT,
  channel TEXT NOT NULL,
  error TEXT,
  meta TEXT,
  result TEXT
);
CREATE UNIQUE INDEX runs_held ON runs (session_key) WHERE held = 1;
CREATE INDEX runs_session ON runs (session_key);

CREATE TABLE steps (
  run_id TEXT NOT NULL REFERENCES runs (run_id),
  k INTEGER NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  state TEXT NOT NULL,
  call_id TEXT NOT NULL,
  digest TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  meta TEXT,
  result TEXT,
  PRIMARY KEY (run_id, k)
);

-- owner = the boot id that marked the part as sending.
CREATE TABLE outbox (
  id INTEGER PRIMARY KEY,
  idem TEXT NOT NULL UNIQUE,
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  target TEXT NOT NULL,
  thread TEXT NOT NULL,
  session_key TEXT NOT NULL,
  run_id TEXT NOT NULL,
  part INTEGER NOT NULL,
  kind TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 0,
  not_before INTEGER NOT NULL DEFAULT 0,
  remote_id TEXT NOT NULL DEFAULT '',
  error TEXT NOT NULL DEFAULT '',
  updated_at INTEGER NOT NULL,
  owner TEXT,
  body TEXT NOT NULL
);
CREATE INDEX outbox_open ON outbox (channel, account, target, id) WHERE state IN ('pending', 'sending');
CREATE INDEX outbox_run ON outbox (run_id);

CREATE TABLE spawns (
  child_run TEXT PRIMARY KEY,
  child_session TEXT NOT NULL,
  parent_session TEXT NOT NULL,
  state TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  announced INTEGER NOT NULL DEFAULT 0,
  meta TEXT
) WITHOUT ROWID;

CREATE TABLE sessions (
  key TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  session_started_at INTEGER NOT NULL,
  fields TEXT NOT NULL
);

CREATE TABLE tasks (
  task_id TEXT PRIMARY KEY,
  runtime TEXT NOT NULL,
  run_id TEXT NOT NULL,
  session_key TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  label TEXT NOT NULL,
  owner_key TEXT NOT NULL,
  requester_session_key TEXT NOT NULL,
  child_session_key TEXT NOT NULL,
  parent_task_id TEXT NOT NULL,
  source_id TEXT NOT NULL,
  scope_kind TEXT NOT NULL,
  delivery_status TEXT NOT NULL,
  notify_policy TEXT NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  last_event_at INTEGER,
  cleanup_after INTEGER,
  error TEXT NOT NULL,
  progress_summary TEXT NOT NULL,
  terminal_summary TEXT NOT NULL,
  terminal_outcome TEXT NOT NULL,
  task TEXT NOT NULL
);
CREATE INDEX tasks_open ON tasks (created_at) WHERE status IN ('queued', 'running');
CREATE INDEX tasks_cleanup ON tasks (cleanup_after) WHERE cleanup_after IS NOT NULL;

CREATE TABLE audit (
  sequence INTEGER PRIMARY KEY AUTOINCREMENT,
  event_id TEXT NOT NULL,
  occurred_at INTEGER NOT NULL,
  kind TEXT NOT NULL,
  action TEXT NOT NULL,
  status TEXT NOT NULL,
  actor_type TEXT NOT NULL,
  actor_id TEXT NOT NULL,
  agent_id TEXT NOT NULL,
  session_key TEXT NOT NULL,
  session_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  tool_call_id TEXT NOT NULL,
  tool_name TEXT NOT NULL,
  error_code TEXT NOT NULL,
  duration_ms INTEGER,
  source_sequence INTEGER NOT NULL
);
