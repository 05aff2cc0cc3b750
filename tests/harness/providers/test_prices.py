"""What a call cost: exactly, or unknown, never guessed."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from weigh.harness.errors import EndpointInvalid
from weigh.harness.providers.endpoints.endpoints import Endpoint, EndpointSettings, endpoint_for
from weigh.harness.providers.endpoints.prices import cost_of, price_known
from weigh.policies.contract import Usage

MILLION = 1_000_000


def test_listed_models_cost_what_the_list_says() -> None:
    # gpt-4o: 2.50 in, 1.25 cached, 10 out, in USD per million tokens.
    usage = Usage(input=MILLION, cached=400_000, output=100_000, reasoning=50_000)
    assert cost_of(endpoint_for("openai:gpt-4o"), usage) == pytest.approx(0.6 * 2.5 + 0.4 * 1.25 + 0.1 * 10)


def test_reasoning_is_part_of_the_output_and_not_charged_twice() -> None:
    endpoint = endpoint_for("openai:gpt-4o")
    assert cost_of(endpoint, Usage(10, 0, 100, 90)) == cost_of(endpoint, Usage(10, 0, 100, 0))


def test_input_written_to_a_cache_is_charged_at_its_own_price() -> None:
    # claude-sonnet-4-6: 3 in, 0.30 read from the cache, 3.75 written to it, 15 out.
    usage = Usage(input=100_000, cached=50_000, output=10_000, cache_written=20_000)
    expected = 0.03 * 3 + 0.05 * 0.30 + 0.02 * 3.75 + 0.01 * 15
    assert cost_of(endpoint_for("anthropic:claude-sonnet-4-6"), usage) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["local:smollm2", "ollama:llama3", "vllm:m", "lmstudio:m", "llamacpp:m"])
def test_models_on_ones_own_machine_cost_nothing_even_uncounted(name: str) -> None:
    assert cost_of(endpoint_for(name), Usage(100, None, 10)) == 0.0
    assert cost_of(endpoint_for(name), Usage()) == 0.0


@pytest.mark.parametrize("usage", [Usage(), Usage(input=10), Usage(output=10)])
def test_unreported_usage_is_an_unknown_cost_and_never_nothing(usage: Usage) -> None:
    assert cost_of(endpoint_for("openai:gpt-4o"), usage) is None


def test_an_unlisted_model_is_an_unknown_cost() -> None:
    endpoint = endpoint_for("openai:no-such-model-9")
    assert cost_of(endpoint, Usage(10, 0, 10)) is None
    assert not price_known(endpoint)


def test_the_model_that_served_is_charged_where_the_name_asked_for_has_no_price() -> None:
    endpoint = endpoint_for("openrouter:some/alias-nobody-lists")
    assert cost_of(endpoint, Usage(MILLION, 0, 0), "openai/gpt-4o") == pytest.approx(2.5)


def test_another_address_under_a_providers_name_has_no_known_price() -> None:
    def at(base_url: str) -> Endpoint:
        return endpoint_for("openai:gpt-4o", {"openai": {"base_url": base_url}})

    assert not price_known(at("http://127.0.0.1:4000/v1"))
    assert not price_known(at("https://notopenai.com/v1"))
    assert price_known(at("https://eu.api.openai.com/v1"))


def test_an_own_price_goes_before_everything() -> None:
    settings = {"ollama": EndpointSettings(price={"input": 1.0, "cached": 0.1, "output": 2.0})}
    endpoint = endpoint_for("ollama:llama3", settings)
    assert cost_of(endpoint, Usage(1_000_000, 500_000, 250_000)) == pytest.approx(0.5 + 0.05 + 0.5)
    assert cost_of(endpoint, Usage(output=5)) is None
    assert cost_of(endpoint, Usage(10, 20, 0)) == pytest.approx(10 * 0.1 / MILLION)  # more cached than read: all of it


def test_prices_are_those_of_the_moment() -> None:
    endpoint = endpoint_for("openai:gpt-4o")
    assert cost_of(endpoint, Usage(MILLION, 0, 0), at=datetime(2026, 1, 1, tzinfo=UTC)) == pytest.approx(2.5)


def test_counts_that_contradict_each_other_are_an_unknown_cost() -> None:
    assert cost_of(endpoint_for("openai:gpt-4o"), Usage(input=10, cached=500, output=1)) is None


def test_what_the_provider_states_goes_before_every_price() -> None:
    stated = Usage(10, 0, 10, cost=0.25)
    own = {"openai": {"price": {"input": 1.0, "output": 1.0}}}
    for endpoint in (
        endpoint_for("openai:gpt-4o"),
        endpoint_for("openai:no-such-model-9"),
        endpoint_for("openai:m", own),
    ):
        assert cost_of(endpoint, stated) == 0.25
    assert cost_of(endpoint_for("openai:no-such-model-9"), Usage(cost=0.0)) == 0.0


@pytest.mark.parametrize(
    ("provider", "tier", "factor"),
    [("openai", "flex", 0.5), ("openai", "default", 1.0), ("openai", "priority", None), ("openai", "turbo", None)],
)
def test_a_service_tier_costs_what_is_known_of_it(provider: str, tier: str, factor: float | None) -> None:
    endpoint, usage = endpoint_for(f"{provider}:gpt-4o"), Usage(1000, 0, 1000)
    plain, found = cost_of(endpoint, usage), cost_of(endpoint, replace(usage, tier=tier))
    assert plain is not None
    assert found == (None if factor is None else pytest.approx(factor * plain))


def test_a_service_tier_may_be_given_a_price() -> None:
    price = {"input": 1.0, "output": 1.0, "tiers": {"priority": 2.5}}
    endpoint = endpoint_for("openai:m", {"openai": {"price": price}})
    assert cost_of(endpoint, Usage(MILLION, 0, 0, tier="Priority")) == 2.5
    assert cost_of(endpoint, Usage(MILLION, 0, 0, tier="flex")) == 0.5


@pytest.mark.parametrize("value", [0.000003, 0.0006])
def test_a_price_for_one_token_is_refused_with_the_likely_value(value: float) -> None:
    with pytest.raises(EndpointInvalid, match=f"write {value * 1e6:g}"):
        endpoint_for("openai:m", {"openai": {"price": {"input": 1.0, "output": value}}})


def test_the_cheapest_prices_and_none_at_all_are_taken() -> None:
    for value in (0.0, 0.005):
        assert endpoint_for("openai:m", {"openai": {"price": {"input": value, "output": value}}}).price is not None
