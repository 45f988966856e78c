"""Published charts that a kustomization names, as locked upstreams. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import Field, ValidationError

from modelyard.catalog.fields import Model, Name
from modelyard.catalog.models import Upstream
from modelyard.errors import CatalogError


class HelmChart(Model):
    """An entry of `helmCharts`: those of kustomize's fields with which a render needs nothing but the chart."""

    name: str = Field(min_length=1)
    repo: str = Field(min_length=1)
    version: str = Field(min_length=1)
    releaseName: Name  # noqa: N815 - kustomize's name
    namespace: Name
    valuesInline: dict[str, object] = Field(default={})  # noqa: N815
    apiVersions: tuple[str, ...] = Field(default=())  # noqa: N815


@dataclass(frozen=True, slots=True)
class ChartRef:
    """A chart of a locked upstream.

    Args:
        upstream: its name in upstream.lock.
        release: release name.
        namespace: release namespace.
        values: of the chart.
        api_versions: what it may take for there, beside Kubernetes' own.
    """

    upstream: str
    release: str
    namespace: str
    values: Mapping[str, object]
    api_versions: tuple[str, ...] = ()


def resolve_chart(entry: object, upstreams: Mapping[str, Upstream], *, shown: str) -> ChartRef:
    """Return which locked upstream an entry of `helmCharts` names.

    Args:
        entry: the entry.
        upstreams: those of upstream.lock.
        shown: the kustomization's file name and line, for people.

    Raises:
        CatalogError: it has a field that a render here does not know, no upstream publishes such a chart, or its
            version is not the locked one.
    """
    try:
        chart = HelmChart.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        cause = "is not known here" if first["type"] == "extra_forbidden" else first["msg"]
        field = ".".join(map(str, first["loc"])) or "helmCharts"
        raise CatalogError(shown, f"field {field} of a chart: {cause}", f"edit {shown}") from error
    for name, upstream in sorted(upstreams.items()):
        if upstream.chart is not None and (upstream.chart.repo, upstream.chart.name) == (chart.repo, chart.name):
            if chart.version.removeprefix("v") != upstream.ref.removeprefix("v"):
                raise CatalogError(
                    shown,
                    f"names chart {chart.name} at version {chart.version}, upstream.lock has {name} at {upstream.ref}",
                    f"make the two the same: {shown} and upstreams.{name}.ref",
                )
            return ChartRef(name, chart.releaseName, chart.namespace, chart.valuesInline, chart.apiVersions)
    raise CatalogError(
        shown,
        f"names chart {chart.name} of {chart.repo}, and no upstream in upstream.lock publishes it",
        "add it to upstream.lock (upstreams.<name>.chart)",
    )
