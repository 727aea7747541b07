"""The entry point ``sweep-plain``."""

from openclaw_core.plugin import ChannelSpec, hookimpl


@hookimpl
def openclaw_channels():
    return (
        ChannelSpec(
            id="sweep-plain",
            summary="the loopback platform",
            factory="openclaw_sweep.channel:SweepChannel",
            config_model="openclaw_sweep.channel:SweepConfig",
            delivery="plain",
        ),
    )
