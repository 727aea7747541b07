"""What every store must do. Subclass `StoreContract` and give it a `backend` fixture:

    class TestMyStore(StoreContract):
        @pytest.fixture
        def backend(self, tmp_path: Path) -> StoreBackend:
            return MyBackend(tmp_path)

Needs pytest-asyncio in auto mode. The tests for the parts lie beside this file, one class a part.
"""

from __future__ import annotations

from openclaw_core.testing.contracts.store_backend import StoreBackend, StoreHouse
from openclaw_core.testing.contracts.store_journal import JournalContract
from openclaw_core.testing.contracts.store_ledgers import LedgerContract
from openclaw_core.testing.contracts.store_outbox import OutboxContract
from openclaw_core.testing.contracts.store_transcripts import TranscriptContract

__all__ = ["StoreBackend", "StoreContract", "StoreHouse"]


class StoreContract(JournalContract, OutboxContract, TranscriptContract, LedgerContract):
    """All parts of the store contract."""
