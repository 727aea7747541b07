"""The entry point ``sweep-idempotent``."""

from openclaw_core.plugin import ChannelSpec, hookimpl


@hookimpl
def openclaw_channels():
    return (
        ChannelSpec(
            id="sweep-idempotent",
            summary="the loopback platform",
            factory="openclaw_sweep.channel:SweepChannel",
            config_model="openclaw_sweep.channel:SweepConfig",
            delivery="idempotent",
        ),
    )
