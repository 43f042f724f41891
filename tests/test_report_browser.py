"""The page of a report in a real browser, and that no text from outside is markup."""

import dataclasses
import gzip
import json
import random
from pathlib import Path

import pytest

from babelscope.core.row import Row
from babelscope.core.row_table import write_rows
from babelscope.engine.sharing.archive import unpacked
from babelscope.face.job import Job
from babelscope.report import Report, write_report
from babelscope.report.model import Contrasted, Side
from babelscope.report.sections.scores.tables import score_table
from babelscope.study.declare import Study
from babelscope.tuning.schedule import parse_schedule
from odd_reports import HOSTILE, hostile, keyed, watched_rows
from synthetic_report import LABELS, synthetic_report

ROWS = Path(__file__).parents[1] / "docs" / "results" / "rows"


@pytest.fixture(scope="module")
def report() -> Report:
    return synthetic_report()


@pytest.fixture
def visit(browser, tmp_path):
    """Open a report; at the end, the page must have asked for itself alone and complained of nothing."""
    complaints, requests = [], []
    page = browser.new_page()
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))

    from playwright.sync_api import expect

    def open_report(report: Report, *, whole: bool = True):
        path: Path = tmp_path / "page.html"
        write_report(report, path)
        page.goto(path.as_uri())
        if whole:
            expect(page.locator(".chart svg.marks")).to_have_count(page.locator(".chart").count(), timeout=30_000)
        return page

    yield open_report
    page.close()
    assert complaints == []
    assert {url for url in requests if not url.startswith("data:")} == {(tmp_path / "page.html").as_uri()}


def test_charts_are_drawn_from_the_rows(visit, report):
    page = visit(report)
    charts = page.locator(".chart svg.marks")
    assert charts.count() == 5
    marks = charts.nth(0).locator(".role-mark")
    rings, dots, ticks = 9 * 2 * 3, 9 * 2, 9 * 2  # every seed; every mean; every baseline
    assert marks.locator("xpath=self::*[contains(@class, 'mark-symbol')]/*").count() == rings + dots
    assert marks.locator("xpath=self::*[contains(@class, 'mark-rect')]/*").count() == ticks
    assert charts.nth(1).locator(".role-mark.mark-symbol path").count() == 9
    assert charts.nth(2).locator(".mark-line path").count() >= 2
    assert all(charts.nth(0).get_by_text(label, exact=True).count() for label in LABELS.values())


def test_the_table_sorts_both_ways_with_empty_cells_last(visit, report):
    page = visit(report)
    table = page.locator("table.sortable").nth(1)
    for column in ("Mean (%)", "Gap to source"):
        index = score_table(report.scores).headers.index(column)
        header = table.locator("thead th").nth(index)
        for expected in ("ascending", "descending"):
            header.locator("button").click()
            assert header.get_attribute("aria-sort") == expected
            assert table.locator('thead th:not([aria-sort="none"])').count() == 1
            cells = table.locator(f"tbody tr > :nth-child({index + 1})")
            given = cells.evaluate_all("cells => cells.map(cell => cell.dataset.number ?? null)")
            numbers = [float(number) for number in given if number is not None]
            assert numbers == sorted(numbers, reverse=expected == "descending")
            assert None not in given[: len(numbers)]
            assert len(given) == 36


def test_the_rows_can_be_downloaded(visit, report, tmp_path):
    page = visit(report)
    with page.expect_download() as download:
        page.get_by_text("rows (CSV, compressed)").click()
    download.value.save_as(tmp_path / "down.csv.gz")
    write_rows(report.rows, tmp_path / "rows.csv")
    assert gzip.decompress((tmp_path / "down.csv.gz").read_bytes()) == (tmp_path / "rows.csv").read_bytes()


def test_the_page_fits_a_phone(visit, report):
    page = visit(report)
    page.set_viewport_size({"width": 375, "height": 700})
    page.wait_for_function("document.documentElement.scrollWidth <= 375")  # charts follow the window a moment later
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


def test_a_page_of_probes_and_sweeps_is_drawn_and_fits_a_phone(visit):
    schedules = {name: parse_schedule(name) for name in (f"freeze:{n}" for n in range(-1, 8))}
    page = visit(Report("title", "question", watched_rows(), schedules=schedules))
    titles = page.locator("figure :is(h2, h3)").all_inner_texts()
    assert titles[:4] == [
        "Perplexity while one language is learned",
        "Perplexity of the target against what the control loses",
        "Accuracy during training: Part-of-speech tagging",
        "CKA with start, by layer",
    ]
    page.set_viewport_size({"width": 1100, "height": 800})
    fits = "charts => charts.map(one => one.scrollWidth <= one.clientWidth)"
    for _ in range(100):  # charts follow the window a moment later
        fitting = page.locator(".chart").evaluate_all(fits)
        if all(fitting):
            break
        page.wait_for_timeout(100)
    assert fitting == [True] * len(titles)
    page.set_viewport_size({"width": 375, "height": 700})
    page.wait_for_function("document.documentElement.scrollWidth <= 375")


def test_where_a_single_seed_has_no_intervals_the_browser_complains_of_nothing(visit):
    with unpacked(ROWS / "align-then-predict.tar.xz") as kept:
        report = Job(Study.model_validate(kept.about["study"]), kept.plan, kept.store).report()
    rows = [row for row in report.rows if row.seed in (None, 0) and row.task in ("", "pos") and row.kind != "curve"]
    assert len(rows) < len(report.rows)
    visit(dataclasses.replace(report, rows=rows))


@pytest.mark.parametrize("text", HOSTILE)
def test_injected_scripts_are_inert(visit, report, text):
    page = visit(hostile(report, text))
    assert page.evaluate("window.hacked") is None
    assert page.locator("h1").inner_text() == text
    assert page.title() == text
    assert page.locator("main img, main script:not([type='application/json'])").count() == 0
    specification = page.locator(".chart script").first.text_content()
    assert text in json.dumps(json.loads(specification), ensure_ascii=False)


def test_filters_leave_a_figure_of_one_claim_where_it_is_meant(visit):
    """A claim is one point, which vanished under any filter; of another task it is not meant."""
    from playwright.sync_api import expect

    about = {"kind": "score", "split": "test", "train_languages": "qaa"}
    rows = [
        Row(measure, value + (encoder == "e") * 0.1 + seed / 10, unit, encoder=encoder, task=task, seed=seed,
            language=code, **about)
        for task, measure, value, unit in (("pos", "accuracy", 0.1, "share"), ("mlm", "perplexity", 9.0, ""))
        for encoder in "ef" for code in ("qaa", "qab") for seed in range(3)
    ]  # fmt: skip
    claim = Contrasted("e is better", Side("e"), Side("f"))
    page = visit(Report("Claims", "q", rows, contrasts=[claim]))
    figure = page.locator("#main-figure .chart")
    chosen = {"qaa": "language", "Part-of-speech tagging": "task", "Masked language modelling": "task"}
    for option, menu in chosen.items():
        shown = not option.startswith("Masked")
        page.locator(".filters summary", has_text=menu).click()
        page.get_by_label(option, exact=True).check()
        expect(figure.locator("svg.marks")).to_have_count(int(shown))
        expect(page.locator("#main-figure .empty")).to_have_count(int(not shown))
        page.get_by_role("button", name="show all").click()
        expect(figure.locator("svg.marks")).to_have_count(1)


def test_filters_act_on_the_figures_and_can_be_taken_back(visit, report):
    from playwright.sync_api import expect

    page = visit(report)
    figure = page.locator("#main-figure .chart")
    rings = figure.locator(".role-mark.mark-symbol path")
    whole = rings.count()
    page.locator(".filters summary", has_text="language").click()
    page.get_by_label("near", exact=True).check()
    expect(rings).to_have_count(whole // 9)
    assert figure.get_by_text("near", exact=True).count() == 1 and figure.get_by_text("isolate").count() == 0
    page.keyboard.press("Escape")
    assert page.locator(".filters details[open]").count() == 0
    page.get_by_role("button", name="show all").click()
    expect(rings).to_have_count(whole)


def test_a_run_key_leads_to_its_row(visit, report):
    from playwright.sync_api import expect

    page = visit(keyed(report))
    line = page.locator("table.sortable").nth(1).locator("tbody tr").first
    link = line.locator(".keys a").first
    link.focus()
    page.keyboard.press("Enter")
    dialog = page.locator("dialog")
    for told in (link.get_attribute("href").removeprefix("#key-"), "babelscope run first-look@world", "Seed: 0"):
        expect(dialog).to_contain_text(told)
    page.keyboard.press("Escape")
    page.locator(".findings a.rows").first.click()
    expect(page.locator("#rows-0[open] li")).to_have_count(4 * 9)


def test_a_number_shows_its_rows(visit, report):
    """All of a cell's results in one table, read out of the file that the page holds."""
    from playwright.sync_api import expect

    known = keyed(report)
    page = visit(known)
    cell = page.locator("table.sortable").first.locator("tbody tr").nth(1).locator("td.number a").first
    cell.click()
    lines = page.locator("dialog table tbody tr")
    expect(lines).to_have_count(3)
    own = [row for row in known.rows if (row.language, row.measure, row.surgery) == ("qab", "accuracy", None)]
    values = {str(row.value) for row in own if row.split == "test" and row.encoder == "natural"}
    assert {line.locator("td").nth(1).inner_text() for line in lines.all()} == values
    page.get_by_role("button", name="Close").click()
    assert page.evaluate("document.activeElement.textContent") == cell.inner_text()


def test_fifty_thousand_rows_are_a_light_page_that_is_soon_there(visit, report):
    """Six megabytes, and three seconds of a processor until the answer and its figure are there."""
    from playwright.sync_api import expect

    run = {"kind": "curve", "encoder": "natural", "task": "pos", "train_languages": "qaa", "split": "train"}
    draw = random.Random(0)
    curves = [
        Row("loss", draw.random(), step=step, seed=seed, surgery=surgery, key=f"{surgery} {seed}".rjust(64, "0"), **run)
        for surgery in (None, "reinit") for seed in range(10) for step in range(2_500)
    ]  # fmt: skip
    page = visit(dataclasses.replace(report, rows=[*keyed(report).rows, *curves]), whole=False)
    measured = page.context.new_cdp_session(page)
    measured.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.reload()
    expect(page.locator("#main-figure svg.marks")).to_be_visible(timeout=60_000)
    metrics = {each["name"]: each["value"] for each in measured.send("Performance.getMetrics")["metrics"]}
    size = Path(page.url.removeprefix("file://")).stat().st_size
    print(f"{size / 1e6:.1f} MB, {metrics['TaskDuration']:.1f} s of a processor")
    assert size < 6e6 and 0 < metrics["TaskDuration"] < 3


def test_the_first_column_stays_where_a_wide_table_is_scrolled(visit, report):
    page = visit(report)
    page.set_viewport_size({"width": 700, "height": 900})
    frame = page.locator(".wide").nth(1)
    first = frame.locator("tbody th").first
    before = first.bounding_box()["x"]
    assert frame.evaluate("frame => { frame.scrollLeft = 200; return frame.scrollLeft }") == 200
    assert first.bounding_box()["x"] == before == frame.locator("thead th").first.bounding_box()["x"]


def test_one_layer_of_a_projection_can_be_picked(visit):
    from playwright.sync_api import expect

    labels = {"kind": "projection", "encoder": "e", "dataset": "d", "seed": None}
    rows = [
        Row(axis, float(word + layer), **labels, layer=layer, language=code, word=word)
        for layer in range(3) for code in ("qaa", "qab") for word in range(4) for axis in ("t-SNE x", "t-SNE y")
    ]  # fmt: skip
    rows += [Row("translation share", 0.2 * layer, "share", **labels, layer=layer) for layer in range(3)]
    page = visit(Report("title", "question", rows, labels={"qaa": "source", "qab": "near"}))
    slider = page.locator("input[type=range]")
    dots = page.locator("figure", has=slider).locator(".role-mark.mark-symbol path")
    expect(dots).to_have_count(3 * 8)
    slider.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(dots).to_have_count(8)
    assert slider.get_attribute("aria-valuetext") == "Layer 1: 20%"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_of_text_can_be_read(visit, report, scheme):
    page = visit(report)
    page.emulate_media(color_scheme=scheme)
    colours = "element => [getComputedStyle(element).color, getComputedStyle(document.body).backgroundColor]"
    for text in (".answer p", ".question", ".caption"):
        ink, paper = page.locator(text).first.evaluate(colours)
        assert contrast(ink, paper) >= 4.5


def contrast(*colours: str) -> float:
    """By WCAG 2: the ratio of the relative luminances of `rgb(r, g, b)`."""
    luminances = []
    for colour in colours:
        shares = [int(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")]
        linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
        luminances.append(sum(weight * each for weight, each in zip((0.2126, 0.7152, 0.0722), linear, strict=True)))
    return (max(luminances) + 0.05) / (min(luminances) + 0.05)


def test_printed_pages_show_whole_tables_and_no_filters(visit, report):
    page = visit(report)
    page.emulate_media(media="print")
    assert not page.locator(".filters").is_visible()
    assert page.locator(".wide").nth(1).evaluate("frame => getComputedStyle(frame).overflow") == "visible"
