"""Which models there are, which one a turn uses, and the provider objects that reach them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from openclaw_core.config.model import Config
from openclaw_core.config.sections.models import ConfiguredModel, ProviderEntry
from openclaw_core.contracts.provider import HttpClients, Provider, ProviderEnv
from openclaw_core.domain.models import ModelCost, ModelInfo
from openclaw_core.errors import ErrorKind, PluginNotFound, ProviderError
from openclaw_core.models.address import complete_address
from openclaw_core.observe.logging import register_secret
from openclaw_core.plugin import ProviderModel, ProviderSpec

_DEFAULT_API = "openai-completions"
_WINDOW, _MAX_TOKENS = 200_000, 8_192


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """A model as `models list` shows it."""

    model: ModelInfo
    available: bool
    reason: str
    tags: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The row of `models list --json` (observed.md 2)."""
        model = self.model
        return {
            "key": model.ref,
            "name": model.name or model.id,
            "api": model.api,
            "input": "+".join(model.input),
            "contextWindow": model.context_window,
            "maxTokens": model.max_tokens,
            "reasoning": model.reasoning,
            "available": self.available,
            "missing": self.reason,
            "tags": list(self.tags),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """A provider id with everything that is known about it."""

    id: str
    spec: ProviderSpec | None
    plugin_id: str
    entry: ProviderEntry | None
    key: str
    key_origin: str
    base_url: str
    address_origin: str
    """Who named the address; empty for the spec."""

    @property
    def usable(self) -> str:
        """Empty, or why requests cannot be made."""
        if self.spec is None:
            return "no plugin serves it"
        if self.entry is not None and not self.entry.enabled:
            return "switched off in the configuration"
        if self.entry is not None and self.entry.api_key is not None and self.entry.api_key.problem:
            return self.entry.api_key.problem
        if self.spec.local and self.entry is None and not self.key and not self.address_origin:
            return f"not configured ({' or '.join((f'models.providers.{self.id}', *self.spec.env_base_urls))})"
        if not self.base_url and self.spec.env_base_urls:
            return f"no address ({' or '.join((*self.spec.env_base_urls, 'baseUrl'))})"
        own = self.entry is not None and bool(self.entry.base_url)
        if self.spec.needs_key and not self.key and not own:
            names = " or ".join(self.spec.env_keys) or "apiKey"
            return f"no API key ({names})"
        return ""


class ModelRegistry:
    """Built from the configuration and the provider plugins; rebuilt when either changes."""

    def __init__(
        self,
        config: Config,
        specs: Sequence[tuple[str, ProviderSpec]],
        *,
        resolve: Callable[[str, str], Any],
        http: HttpClients,
        environ: Mapping[str, str],
    ) -> None:
        self._config = config
        self._resolve = resolve
        self._http = http
        self._environ = environ
        self._specs = list(specs)
        self._sources = self._collect()
        self._models = self._catalogue()
        self._aliases = {item.alias.lower(): ref for ref, item in config.agents.defaults.models.items() if item.alias}
        self._providers: dict[tuple[str, str], Provider] = {}

    # ---- what there is ---------------------------------------------------------------------------

    def _collect(self) -> dict[str, _Source]:
        entries = self._config.models.providers
        by_id = {spec.id: (plugin_id, spec) for plugin_id, spec in self._specs}
        out: dict[str, _Source] = {}
        for ident in [*by_id, *(i for i in entries if i not in by_id)]:
            entry = entries.get(ident)
            plugin_id, spec = by_id.get(ident, ("", None))
            if (
                entry is not None
                and entry.api
                and (spec is None or entry.api not in (*spec.wire_apis, spec.default_api))
            ):
                plugin_id, spec = self._server_of(entry.api)
            elif spec is None and entry is not None:
                plugin_id, spec = self._server_of(entry.api or _DEFAULT_API)
            key, origin = self._key(entry, spec)
            base_url, address_origin = self._address(entry, spec)
            out[ident] = _Source(
                id=ident,
                spec=spec,
                plugin_id=plugin_id,
                entry=entry,
                key=key,
                key_origin=origin,
                base_url=base_url,
                address_origin=address_origin,
            )
        return out

    def _server_of(self, api: str) -> tuple[str, ProviderSpec | None]:
        return next(((p, s) for p, s in self._specs if api in s.wire_apis), ("", None))

    def _key(self, entry: ProviderEntry | None, spec: ProviderSpec | None) -> tuple[str, str]:
        if entry is not None and entry.api_key is not None:
            return (entry.api_key.reveal(), "configuration") if entry.api_key else ("", "")
        elsewhere = spec is not None and entry is not None and entry.base_url and entry.base_url != spec.base_url
        if spec is None or (elsewhere and not spec.local and spec.base_url):
            return "", ""  # a key of the environment goes to the vendor's own address only
        for name in spec.env_keys:
            if value := self._environ.get(name, ""):
                register_secret(value)
                return value, name
        return "", ""

    def _address(self, entry: ProviderEntry | None, spec: ProviderSpec | None) -> tuple[str, str]:
        """The configured address, else that of the environment, else the vendor's; and who named it."""
        if entry is not None and entry.base_url:
            return entry.base_url, "configuration"
        if spec is None:
            return "", ""
        for name in spec.env_base_urls:
            if found := complete_address(self._environ.get(name, ""), spec.base_url):
                return found, name
        return spec.base_url, ""

    def _catalogue(self) -> dict[str, ModelInfo]:
        out: dict[str, ModelInfo] = {}
        for source in self._sources.values():
            entry, spec = source.entry, source.spec
            if spec is not None and spec.id == source.id and self._config.models.mode == "merge":
                for item in spec.models:
                    model = _from_spec(source.id, item, spec, entry)
                    out[model.ref] = model
            for listed in entry.models if entry is not None else ():
                model = _from_config(source.id, listed, entry, spec, out.get(f"{source.id}/{listed.id}"))
                out[model.ref] = model
        return out

    def rows(self) -> list[ModelRow]:
        """All models of usable providers first, then the others with the reason."""
        default = self.default_ref()
        rows = []
        for ref, model in self._models.items():
            reason = self._sources[model.provider].usable
            tags = tuple(a for a, r in self._aliases.items() if r == ref) + (("default",) if ref == default else ())
            rows.append(ModelRow(model=model, available=not reason, reason=reason, tags=tags))
        return sorted(rows, key=lambda r: (not r.available, r.model.ref))

    def providers(self) -> list[tuple[str, str, str, str]]:
        """(id, plugin, where the key comes from, why it is unusable) of every known provider."""
        return [(s.id, s.plugin_id, s.key_origin, s.usable) for s in self._sources.values()]

    # ---- choice ----------------------------------------------------------------------------------

    def default_ref(self) -> str:
        """The model of agents that name none: configured, else the first usable, else the demonstration."""
        primary = self._config.agents.defaults.model.primary
        if primary:
            return primary
        usable = [s for s in self._sources.values() if not s.usable and s.spec is not None]
        for source in usable:
            if source.entry is not None and source.entry.models:
                return f"{source.id}/{source.entry.models[0].id}"
        own = [(spec, s) for s in usable if (spec := s.spec) is not None and spec.id == s.id and spec.default_model]
        hosted = [(spec, s) for spec, s in own if not spec.local and not spec.fallback and s.key]
        servers = [(spec, s) for spec, s in own if spec.local]
        for group in (hosted, servers):
            for spec, source in sorted(group, key=lambda pair: pair[0].priority):
                return f"{source.id}/{spec.default_model}"
        for source in usable:
            if source.spec is not None and source.spec.fallback and source.spec.id == source.id:
                return f"{source.id}/{source.spec.default_model or source.spec.models[0].id}"
        return ""

    def resolve(self, ref: str) -> ModelInfo:
        """A model by reference, alias, or bare name where only one provider has it.

        Raises ProviderError(model_not_found).
        """
        text = ref.strip()
        known = self._models.get(text) or self._models.get(self._aliases.get(text.lower(), ""))
        if known is not None:
            return known
        target = self._aliases.get(text.lower(), text)
        if "/" in target:
            provider, _, name = target.partition("/")
            source = self._sources.get(provider.lower())
            if source is not None and name:
                if source.spec is None:
                    raise _unknown(text, f"no installed plugin serves the provider '{source.id}'")
                return _unlisted(source, name)
        matches = [m for m in self._models.values() if m.id == target and not self._sources[m.provider].usable]
        if len(matches) == 1:
            return matches[0]
        raise _unknown(text or "(none)", "it is not in the catalogue" if not matches else "several providers have it")

    def chain(self, refs: Sequence[str]) -> list[ModelInfo]:
        """Models in order without doubles; fallbacks that do not exist are left out, a missing primary raises."""
        out: list[ModelInfo] = []
        for number, ref in enumerate(refs):
            try:
                model = self.resolve(ref)
            except ProviderError:
                if number == 0:
                    raise
                continue
            if model.ref not in {m.ref for m in out}:
                out.append(model)
        return out

    # ---- reaching them ---------------------------------------------------------------------------

    async def provider(self, model: ModelInfo) -> Provider:
        """The provider object of a model, made once. Raises ProviderError(auth) without a key."""
        known = self._providers.get((model.provider, model.api))
        if known is not None:
            return known
        source = self._sources.get(model.provider)
        if source is None or source.spec is None:
            raise PluginNotFound(
                f"No installed plugin serves the provider '{model.provider}'.",
                kind="provider",
                plugin_id=model.provider,
                hint=f"Install it: pip install openclaw-provider-{model.provider}",
            )
        if source.usable:
            raise ProviderError(f"The provider '{source.id}' cannot be used: {source.usable}.", kind=ErrorKind.AUTH)
        entry, spec = source.entry, source.spec
        headers = {k: v.reveal() for k, v in (*entry.headers.items(), *entry.request.headers.items())} if entry else {}
        env = ProviderEnv(
            provider_id=source.id,
            base_url=source.base_url.rstrip("/"),
            api=model.api,
            api_key=source.key,
            http=self._http,
            headers=headers,
            timeout_s=entry.timeout_seconds if entry and entry.timeout_seconds else 120.0,
        )
        made: Provider = self._resolve(source.plugin_id, spec.factory)(env)
        self._providers[(model.provider, model.api)] = made
        return made

    async def aclose(self) -> None:
        """Close all provider objects."""
        providers, self._providers = list(self._providers.values()), {}
        for provider in providers:
            await provider.aclose()


def _unknown(ref: str, why: str) -> ProviderError:
    return ProviderError(f"The model '{ref}' cannot be used: {why}.", kind=ErrorKind.MODEL_NOT_FOUND)


def _api(entry: ProviderEntry | None, spec: ProviderSpec | None) -> str:
    if entry is not None and entry.api:
        return entry.api
    if entry is not None and entry.base_url and spec is not None and _DEFAULT_API in spec.wire_apis:
        return _DEFAULT_API
    return spec.default_api if spec is not None else _DEFAULT_API


def _unlisted(source: _Source, name: str) -> ModelInfo:
    """A model that no list names: the provider will say whether it exists."""
    return _from_config(source.id, ConfiguredModel.model_validate({"id": name}), source.entry, source.spec, None)


def _from_spec(provider: str, item: ProviderModel, spec: ProviderSpec, entry: ProviderEntry | None) -> ModelInfo:
    return ModelInfo(
        provider=provider,
        id=item.id,
        name=item.name or item.id,
        api=item.api or _api(entry, spec),
        context_window=item.context_window,
        max_tokens=item.max_tokens,
        reasoning=item.reasoning,
        input=item.input,
        cost=ModelCost(input=item.cost[0], output=item.cost[1], cache_read=item.cost[2], cache_write=item.cost[3]),
        compat={**spec.compat, **item.compat, **(entry.compat if entry else {})},
    )


def _from_config(
    provider: str,
    item: ConfiguredModel,
    entry: ProviderEntry | None,
    spec: ProviderSpec | None,
    known: ModelInfo | None,
) -> ModelInfo:
    window = (
        item.context_window or (entry.context_window if entry else None) or (known.context_window if known else _WINDOW)
    )
    max_tokens = (
        item.max_tokens or (entry.max_tokens if entry else None) or (known.max_tokens if known else _MAX_TOKENS)
    )
    cost = item.cost
    set_ = item.model_fields_set
    return ModelInfo(
        provider=provider,
        id=item.id,
        name=item.name or (known.name if known else item.id),
        api=item.api or (known.api if known else _api(entry, spec)),
        context_window=window,
        max_tokens=max_tokens,
        reasoning=item.reasoning if "reasoning" in set_ or known is None else known.reasoning,
        input=tuple(item.input) if "input" in set_ or known is None else known.input,
        cost=ModelCost(input=cost.input, output=cost.output, cache_read=cost.cache_read, cache_write=cost.cache_write)
        if "cost" in set_ or known is None
        else known.cost,
        compat={
            **(spec.compat if spec is not None and spec.id == provider else {}),
            **(known.compat if known else {}),
            **(entry.compat if entry else {}),
            **item.compat,
        },
    )
