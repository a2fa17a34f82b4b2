"""What is in deploy/ is true: the chart renders and is valid, pods are locked down, metrics that are named exist."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import promql_parser
import pytest
from ruamel.yaml import YAML

from proxy.audit import AuditEvent
from proxy.metrics import Metrics
from tests.helm import rendered
from tests.test_docs import _calls, _constant, _full_event, _options, refusals

ROOT = Path(__file__).resolve().parent.parent
DEPLOY = ROOT / "deploy"
VARIANTS: dict[str, dict[str, Any]] = {
    "gateway": {},
    "fixed": {"autoscaling": {"enabled": False}, "store": "memory", "replicas": 1, "onlyWayOut": False},
    "policy": {"policy": "version: 1\nlimits: {default: 9}\nentities: {PERSON: replace}\n", "otlp": "http://c:4318"},
    "all": {
        "tls": {"secret": "front"},
        "tenants": {"secret": "teams"},
        "upstreamCa": {"configMap": "authorities", "key": "bundle.pem"},
        "upstreamTls": {"secret": "back"},
        "store": "own",
        "processes": 3,
    },
    "sidecar": {"pattern": "sidecar", "application": {"image": "app:1"}},
}
KUBERNETES = "1.31"


def yaml(text: str) -> list[Any]:
    return [made for made in YAML(typ="safe", pure=True).load_all(text) if made]


@functools.cache
def _rendered(variant: str) -> tuple[str, str]:
    manifests, messages = rendered(VARIANTS[variant])
    return manifests, json.dumps(messages)


def objects(variant: str, kind: str = "") -> list[dict[str, Any]]:
    return [made for made in yaml(_rendered(variant)[0]) if kind in ("", made["kind"])]


def the_proxy(variant: str) -> dict[str, Any]:
    """The deployment that the proxy is in."""
    (found,) = [one for one in objects(variant, "Deployment") if one["metadata"]["name"] == "redact"]
    return found


@pytest.fixture(params=VARIANTS)
def variant(request: pytest.FixtureRequest) -> str:
    return str(request.param)


# The chart


def test_helm_has_nothing_to_say_against_the_chart(variant: str) -> None:
    told = [message for message in json.loads(_rendered(variant)[1]) if message["severity"] > 1]
    assert told == []


def test_every_object_is_valid(variant: str) -> None:
    made = objects(variant)
    assert len(made) >= 3
    for one in made:
        kubernetes_validate.validate(one, KUBERNETES, strict=True)
    names = [(one["kind"], one["metadata"]["name"]) for one in made]
    assert len(set(names)) == len(names)


def test_an_object_that_is_wrong_would_be_found() -> None:
    (made,) = objects("gateway", "Service")
    made["spec"]["port"] = 1
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(made, KUBERNETES, strict=True)


def test_pods_write_nothing_are_nobody_and_say_how_they_are(variant: str) -> None:
    for deployment in objects(variant, "Deployment"):
        pod = deployment["spec"]["template"]["spec"]
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"] == {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
        for container in pod["containers"]:
            security = container["securityContext"]
            assert security["readOnlyRootFilesystem"] is True
            assert security["allowPrivilegeEscalation"] is False
            assert security["capabilities"] == {"drop": ["ALL"]}
    pod = the_proxy(variant)["spec"]["template"]["spec"]
    (proxy,) = [container for container in pod["containers"] if container["name"] == "proxy"]
    assert proxy["securityContext"]["runAsUser"] == 10001
    for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
        assert path in json.dumps(proxy[probe])
    assert {mount["name"] for mount in proxy["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    assert proxy["resources"]["limits"]["memory"]


def test_a_pod_has_time_to_drain(variant: str) -> None:
    pod = the_proxy(variant)["spec"]["template"]["spec"]
    (proxy,) = [container for container in pod["containers"] if container["name"] == "proxy"]
    (drain,) = [item["value"] for item in proxy["env"] if item["name"] == "CAVIARDAGE_DRAIN_TIMEOUT"]
    asleep = int(proxy["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > float(drain) + asleep


def test_secrets_come_from_a_secret_and_variables_exist(variant: str) -> None:
    known = {name for _, name in _options()}
    containers = the_proxy(variant)["spec"]["template"]["spec"]["containers"]
    (proxy,) = [one for one in containers if one["name"] == "proxy"]
    for item in proxy["env"]:
        assert item["name"] in known | {"STORE_PASSWORD"}
        if item["name"].endswith(("SECRET", "PASSWORD")):
            assert set(item) == {"name", "valueFrom"}
        if item["name"].endswith("STORE"):
            assert "valueFrom" in item or re.match(r"redis://:\$\(STORE_PASSWORD\)@", item["value"])
    assert {item["name"] for item in proxy["env"]} >= {"CAVIARDAGE_SECRET", "CAVIARDAGE_AUDIT_SECRET"}


def test_the_gateway_is_the_only_way_out() -> None:
    policies = {one["metadata"]["name"]: one["spec"] for one in objects("gateway", "NetworkPolicy")}
    others, proxy = policies["redact-only-way-out"], policies["redact-proxy"]
    assert others["podSelector"]["matchExpressions"] == [
        {"key": "app.kubernetes.io/name", "operator": "NotIn", "values": ["caviardage"]}
    ]
    assert others["policyTypes"] == ["Egress"]
    blocks = [to["ipBlock"]["cidr"] for rule in others["egress"] for to in rule["to"]]
    assert blocks == ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"]
    out = [rule for rule in proxy["egress"] if "ipBlock" in rule["to"][0]]
    assert [rule["ports"] for rule in out] == [[{"protocol": "TCP", "port": 443}]]
    assert "169.254.0.0/16" in out[0]["to"][0]["ipBlock"]["except"]
    (service,) = objects("gateway", "Service")
    (deployment,) = objects("gateway", "Deployment")
    assert service["spec"]["selector"].items() <= deployment["spec"]["template"]["metadata"]["labels"].items()
    assert proxy["podSelector"]["matchLabels"] == deployment["spec"]["selector"]["matchLabels"]


def test_the_gateway_grows_and_a_fixed_one_does_not() -> None:
    (scaler,) = objects("gateway", "HorizontalPodAutoscaler")
    (deployment,) = objects("gateway", "Deployment")
    assert scaler["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
    assert "replicas" not in deployment["spec"]
    assert objects("fixed", "HorizontalPodAutoscaler") == []
    assert objects("fixed", "Deployment")[0]["spec"]["replicas"] == 1


def test_the_sidecar_is_on_loopback_and_the_application_is_told_so() -> None:
    (deployment,) = objects("sidecar", "Deployment")
    application, proxy = deployment["spec"]["template"]["spec"]["containers"]
    assert {"name": "CAVIARDAGE_HOST", "value": "127.0.0.1"} in proxy["env"]
    assert "ports" not in proxy
    assert all("exec" in proxy[f"{kind}Probe"] for kind in ("startup", "liveness", "readiness"))
    assert {"name": "OPENAI_BASE_URL", "value": "http://127.0.0.1:8484/v1"} in application["env"]
    assert objects("sidecar", "Service") == []
    with pytest.raises(RuntimeError, match=r"application\.image"):
        rendered({"pattern": "sidecar"})


def test_a_policy_in_the_values_is_the_one_that_is_served() -> None:
    (kept,) = objects("policy", "ConfigMap")
    assert yaml(kept["data"]["policy.yaml"]) == yaml(VARIANTS["policy"]["policy"])
    (deployment,) = objects("policy", "Deployment")
    proxy = deployment["spec"]["template"]["spec"]["containers"][0]
    assert {"name": "CAVIARDAGE_POLICY", "value": "/etc/caviardage/policy.yaml"} in proxy["env"]


def test_certificates_and_tenants_are_mounted_where_the_proxy_is_told_that_they_are() -> None:
    pod = the_proxy("all")["spec"]["template"]["spec"]
    (proxy,) = pod["containers"]
    told = {item["name"]: item["value"] for item in proxy["env"] if item.get("value", "").startswith("/etc/")}
    assert told == {
        "CAVIARDAGE_TENANTS": "/etc/caviardage-tenants/tenants.yaml",
        "CAVIARDAGE_TLS_CERT": "/etc/caviardage-tls/tls.crt",
        "CAVIARDAGE_TLS_KEY": "/etc/caviardage-tls/tls.key",
        "CAVIARDAGE_UPSTREAM_CA": "/etc/caviardage-ca/bundle.pem",
        "CAVIARDAGE_UPSTREAM_CERT": "/etc/caviardage-upstream/tls.crt",
        "CAVIARDAGE_UPSTREAM_KEY": "/etc/caviardage-upstream/tls.key",
    }
    mounted = {mount["mountPath"]: mount["name"] for mount in proxy["volumeMounts"] if mount.get("readOnly")}
    sources = {volume["name"]: volume for volume in pod["volumes"]}
    assert sources[mounted["/etc/caviardage-tls"]]["secret"] == {"secretName": "front"}
    assert sources[mounted["/etc/caviardage-tenants"]]["secret"] == {"secretName": "teams"}
    assert sources[mounted["/etc/caviardage-upstream"]]["secret"] == {"secretName": "back"}
    assert sources[mounted["/etc/caviardage-ca"]]["configMap"] == {"name": "authorities"}
    assert {proxy[f"{kind}Probe"]["httpGet"]["scheme"] for kind in ("startup", "liveness", "readiness")} == {"HTTPS"}
    ports = [service["spec"]["ports"][0]["port"] for service in objects("all", "Service")]
    assert sorted(ports) == [443, 6379]
    sidecar = rendered({"pattern": "sidecar", "application": {"image": "app:1"}, "tls": {"secret": "front"}})[0]
    assert "CAVIARDAGE_TLS" not in sidecar


def test_a_store_of_the_charts_own_answers_the_proxy_alone() -> None:
    policies = {one["metadata"]["name"]: one["spec"] for one in objects("all", "NetworkPolicy")}
    own, proxy = policies["redact-store"], policies["redact-proxy"]
    (store,) = [one for one in objects("all", "Deployment") if one["metadata"]["name"] == "redact-store"]
    labels = store["spec"]["template"]["metadata"]["labels"]
    assert own["podSelector"]["matchLabels"] == labels
    assert own["policyTypes"] == ["Ingress", "Egress"]
    assert "egress" not in own
    ((caller,),) = [rule["from"] for rule in own["ingress"]]
    assert caller["podSelector"]["matchLabels"] == the_proxy("all")["spec"]["template"]["metadata"]["labels"]
    assert [
        rule["ports"] for rule in proxy["egress"] if rule["to"][0].get("podSelector", {}).get("matchLabels") == labels
    ]
    (service,) = [one for one in objects("all", "Service") if one["metadata"]["name"] == "redact-store"]
    assert service["spec"]["selector"] == labels
    (variable,) = [item for item in the_container("all")["env"] if item["name"] == "CAVIARDAGE_STORE"]
    assert variable["value"] == "redis://:$(STORE_PASSWORD)@redact-store:6379/0"


def the_container(variant: str) -> dict[str, Any]:
    found: dict[str, Any] = the_proxy(variant)["spec"]["template"]["spec"]["containers"][0]
    return found


# Compose


def test_compose_locks_both_down_and_keeps_the_store_inside() -> None:
    (made,) = yaml((DEPLOY / "compose" / "compose.yaml").read_text())
    proxy, store = made["services"]["proxy"], made["services"]["store"]
    for service in (proxy, store):
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert not service["user"].startswith("0")
        assert service["healthcheck"]
    assert made["networks"]["inside"]["internal"] is True
    assert store["networks"] == ["inside"]
    assert all(port.startswith("127.0.0.1:") for port in proxy["ports"])
    assert "ports" not in store
    assert set(proxy["environment"]) <= {name for _, name in _options()}
    assert (DEPLOY / "compose" / proxy["build"]["context"] / "Dockerfile").exists()


# Rules and dashboard


def series() -> set[str]:
    """Every series that the service can have."""
    metrics = Metrics()
    metrics.observe(_full_event())
    for name in ("watch", "tally", "shared"):
        for _, call in _calls(name):
            getattr(metrics, name)(_constant(call.args[0]), _constant(call.args[1]), lambda: 0.0)
    return {sample.name for family in metrics.registry.collect() for sample in family.samples}


def rules() -> list[dict[str, Any]]:
    (made,) = yaml((DEPLOY / "prometheus" / "rules.yaml").read_text())
    return [rule for group in made["groups"] for rule in group["rules"]]


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in rules())
    for panel in json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())["panels"]:
        yield from (target["expr"].replace("$__rate_interval", "5m") for target in panel["targets"])


def test_expressions_are_promql_about_metrics_that_exist() -> None:
    known, used = series(), set[str]()
    for expression in expressions():
        promql_parser.parse(expression)
        used |= set(re.findall(r"\bcaviardage_\w+", expression))
    assert len(used) > 12
    assert used <= known


def test_labels_in_expressions_exist() -> None:
    codes = {*refusals(), *_alarm_codes()}
    for expression in expressions():
        for label, values in re.findall(r'(reason|code)=~?"([^"]+)"', expression):
            assert set(values.split("|")) <= codes, f"{label} in {expression}"
        for verdict in re.findall(r'verdict="(\w+)"', expression):
            assert AuditEvent(request_id="r", verdict=verdict, status=200).verdict == verdict


def _alarm_codes() -> set[str]:
    table = (ROOT / "docs" / "operations.md").read_text()
    return set(re.findall(r"`([a-z_]+)`", table))


def test_every_alert_says_what_to_do() -> None:
    assert len(rules()) > 6
    for rule in rules():
        assert set(rule["annotations"]) == {"summary", "what"}
        assert rule["labels"]["severity"] in ("critical", "warning")


def test_the_dashboard_shows_each_panel_once() -> None:
    made = json.loads((DEPLOY / "grafana" / "dashboard.json").read_text())
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in made["panels"]]
    assert len(set(places)) == len(places) > 8
    assert len({panel["title"] for panel in made["panels"]}) == len(places)
