"""What axe finds on the pages: nothing serious, in light and dark, wide and narrow, with everything unfolded."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.harness.web.episodes import played
from tests.harness.web.runs import MODELS, make_run
from weigh.games.registry import GAMES
from weigh.harness.store.store import Store
from weigh.harness.web.viewer.run import record_page, run_page


def serious(page):
    found = Axe().run(page).response["violations"]
    return [
        (each["id"], each["impact"], [node["html"][:200] for node in each["nodes"][:3]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


def opened(look, path, fragment, scheme, wide):
    # The page's policy forbids every script but its own, axe as well.
    viewport = {"width": wide, "height": 900}
    return look(path, fragment, color_scheme=scheme, viewport=viewport, bypass_csp=True, reduced_motion="reduce")


@pytest.mark.parametrize(("fragment", "scheme", "wide"), [("#step=1", "light", 1280), ("#frame=9999", "dark", 360)])
@pytest.mark.parametrize("name", GAMES)
def test_no_game_has_a_serious_fault(look, tmp_path, name, fragment, scheme, wide):
    path = tmp_path / "page.html"
    path.write_text("".join(record_page(played(name, seed=3))), encoding="utf-8")
    assert serious(opened(look, path, fragment, scheme, wide)) == []


@pytest.mark.parametrize(("scheme", "wide"), [("light", 1280), ("dark", 1280), ("light", 360)])
def test_a_run_has_no_serious_fault(look, tmp_path, scheme, wide):
    make_run(tmp_path / "run", reply="said " * 2_000)
    path = tmp_path / "run.html"
    with Store.open(tmp_path / "run", readonly=True) as store:
        path.write_text("".join(run_page(store, 10_000_000)), encoding="utf-8")
    page = opened(look, path, "", scheme, wide)
    assert serious(page) == []
    page = opened(look, path, f"#episode={MODELS}&step=0", scheme, wide)
    for summary in page.locator("#episode summary").all():
        summary.click()
    assert serious(page) == []
    page.keyboard.press("?")
    assert serious(page) == []
