"""Choosing what a run runs with: model chain, runtime, prompt, budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openclaw_core.contracts.provider import ModelRequest
from openclaw_core.contracts.runtime import Runtime
from openclaw_core.contracts.tool import ToolContext
from openclaw_core.domain.journal import Claim
from openclaw_core.domain.messages import Block, ImageBlock, TextBlock, UserMessage
from openclaw_core.domain.models import ModelInfo
from openclaw_core.domain.turns import Turn
from openclaw_core.models.failover import Candidates
from openclaw_core.plugin import TurnView
from openclaw_core.prompt import budget, sections
from openclaw_core.runs.agents import Agent
from openclaw_core.runs.conversation import Conversation
from openclaw_core.runs.deps import RunDeps
from openclaw_core.runs.outcome import RunFacts
from openclaw_core.runs.scope import RunScope
from openclaw_core.tools.loops import LoopGuard


async def prepare(
    deps: RunDeps, claim: Claim, agent: Agent, conversation: Conversation, facts: RunFacts
) -> tuple[Turn, RunScope, Runtime]:
    """Everything a run needs before its runtime begins: turn, scope and runtime; fills in `facts`.

    Raises ProviderError when the model does not exist, PluginNotFound without a runtime.
    """
    item = claim.row.item
    chosen = str(item.body.get("model") or claim.model_override)
    refs = [chosen] if chosen else list(agent.models) or [deps.models.default_ref()]
    chain = deps.models.chain(refs)
    model = chain[0]
    runtime_id, runtime = deps.runtime(model)
    thinking = str(item.body.get("thinking") or agent.thinking)
    view = TurnView(
        agent_id=agent.id,
        session_key=item.session_key,
        channel=item.channel,
        provider=model.provider,
        model=model.id,
        workspace=str(agent.workspace),
    )
    prompt = await deps.prompts.build(agent.sources, view, agent.box.schemas)
    dynamic = sections.runtime_line(agent_id=agent.id, model=model.ref, channel=item.channel, thinking=thinking)
    window = min(model.context_window, agent.context_tokens)
    reserve = agent.reserve_of(window)
    facts.budget = budget.status(
        window=window,
        reserve=reserve,
        prompt_chars=len(prompt.text) + len(dynamic),
        tools_chars=prompt.tools_chars,
        messages=conversation.messages,
    )
    conversation.history = budget.fit(
        conversation.history, spare=int(facts.budget["usableTokens"]) - int(facts.budget["estimatedPromptTokens"])
    )
    facts.prompt_report = {
        "source": "run",
        "generatedAt": deps.clock.now_ms(),
        "sessionId": claim.session_id,
        "sessionKey": item.session_key,
        "provider": model.provider,
        "model": model.id,
        "workspaceDir": str(agent.workspace),
        **prompt.report,
    }
    turn = Turn(
        run_id=item.run_id,
        session_key=item.session_key,
        session_id=claim.session_id,
        agent_id=agent.id,
        message=UserMessage(content=user_blocks(item.body), timestamp=item.received_at),
        model=model,
        channel=item.channel,
        system_prompt=prompt.text,
        system_dynamic=dynamic,
        thinking=thinking,
        limits=agent.limits,
        resumed=claim.resumed,
        meta={"runtime": runtime_id},
    )
    scope = await _scope(deps, claim, turn, agent, chain, conversation, facts)
    return turn, scope, runtime


async def _scope(
    deps: RunDeps,
    claim: Claim,
    turn: Turn,
    agent: Agent,
    chain: Sequence[ModelInfo],
    conversation: Conversation,
    facts: RunFacts,
) -> RunScope:
    steps = await deps.store.journal.steps(turn.run_id) if claim.row.attempt > 1 or claim.resumed else []
    return RunScope(
        turn=turn,
        fence=claim.fence,
        journal=deps.store.journal,
        clock=deps.clock,
        audit=deps.audit,
        conversation_=conversation,
        box=agent.box,
        tool_context=ToolContext(
            workspace=agent.workspace,
            roots=agent.roots,
            agent_id=agent.id,
            session_key=turn.session_key,
            session_id=turn.session_id,
            run_id=turn.run_id,
            channel=turn.channel,
            context_window=turn.model.context_window,
            model_input=turn.model.input,
            meta={"protected": agent.protected},
        ),
        gate=deps.gate,
        candidates=Candidates(models=chain, provider=deps.models.provider),
        request=ModelRequest(
            model=turn.model,
            system=turn.system_prompt,
            system_dynamic=turn.system_dynamic,
            messages=(),
            tools=agent.box.schemas,
            thinking=turn.thinking,
            session_id=turn.session_id,
            run_id=turn.run_id,
            idle_s=turn.limits.idle_s,
        ),
        rng=deps.rng,
        facts=facts,
        loops=LoopGuard(warn_at=agent.loops[0], block_at=agent.loops[1], break_at=agent.loops[2]),
        prior={row.k: row for row in steps},
    )


def user_blocks(body: Mapping[str, Any]) -> tuple[Block, ...]:
    """The content of a journal body: text, then images."""
    blocks: list[Block] = [TextBlock(text=str(body.get("text", "")))]
    for image in body.get("images") or ():
        if isinstance(image, Mapping) and image.get("data"):
            blocks.append(ImageBlock(data=str(image["data"]), mime_type=str(image.get("mimeType", "image/png"))))
    return tuple(blocks)
