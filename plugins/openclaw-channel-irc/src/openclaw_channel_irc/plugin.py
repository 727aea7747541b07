"""What the plugin offers: the channel ``irc``."""

from __future__ import annotations

from collections.abc import Iterable

from openclaw_core.plugin import ChannelSpec, hookimpl

_PACKAGE = "openclaw_channel_irc"


@hookimpl
def openclaw_channels() -> Iterable[ChannelSpec]:
    """One channel; 400 bytes fit into one line on almost every network."""
    return (
        ChannelSpec(
            id="irc",
            summary="IRC: direct messages and channel mentions",
            factory=f"{_PACKAGE}.channel:IrcChannel",
            config_model=f"{_PACKAGE}.config:IrcConfig",
            text_limit=400,
            text_unit="bytes",
            dm_scope="per-channel-peer",
            delivery="plain",
            chat_types=("direct", "channel"),
        ),
    )
