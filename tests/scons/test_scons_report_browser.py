"""The report of a real engine in a headless browser: opens alone, complains of nothing, fits."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from project import ENGINE

PAGE = f"build/reports/{ENGINE}.html"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
MEASURE = """<script>addEventListener("load", () => {
const box = document.querySelector(".verdict").getBoundingClientRect();
const wide = [...document.querySelectorAll("main *")].filter(e => !e.closest(".scroll, .graph")
  && e.getBoundingClientRect().right > innerWidth + 1);
document.title = JSON.stringify([document.documentElement.scrollWidth <= innerWidth,
  box.bottom <= innerHeight, wide.length, document.querySelectorAll("svg rect").length > 20,
  [...document.querySelectorAll(".graph text")].every(t => t.getBBox().width > 0)]);
});</script>"""


def browse(page: Path, *options: str) -> tuple[str, str]:
    """Return the document as a headless browser has it after loading, and what it complains of."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    assert program, "no browser; ./netra pytest as root installs chromium-headless-shell"
    profile = page.parent / "profile"
    command = [
        program,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
        "--enable-logging=stderr",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        f"--user-data-dir={profile}",
        *options,
        "--dump-dom",
        page.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, timeout=120, check=True)
    complaints = [line for line in done.stderr.decode().splitlines() if ":CONSOLE" in line]
    return done.stdout.decode(), "\n".join(complaints)


def measured(page: Path, folder: Path, *options: str) -> str:
    """Return what a script that is put into a copy of the page measures in the browser."""
    text = page.read_text(encoding="utf-8")
    policy = re.search(r'<meta http-equiv="Content-Security-Policy"[^>]*>', text)[0]
    copy = folder / "measured.html"
    copy.write_text(text.replace(policy, MEASURE), encoding="utf-8")
    dom, complaints = browse(copy, *options)
    assert complaints == ""
    return html.unescape(re.search(r"<title>(.*?)</title>", dom)[1])


def test_a_browser_opens_the_page_without_a_complaint(reported, tmp_path):
    page = tmp_path / "page.html"
    shutil.copyfile(reported.folder / PAGE, page)
    dom, complaints = browse(page)
    assert complaints == ""
    assert f"<h1>{ENGINE}</h1>" in dom


@pytest.mark.parametrize("size", ["1280,900", "400,900"])
def test_the_page_fits_a_screen_and_a_phone(reported, tmp_path, size):
    found = measured(reported.folder / PAGE, tmp_path, f"--window-size={size}")
    assert found == "[true,true,0,true,true]"


def test_the_browser_would_complain(tmp_path):
    page = tmp_path / "page.html"
    policy = "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'\">"
    page.write_text(f"{policy}<title>t</title><script>1</script><p>text")
    _, complaints = browse(page)
    assert "Content Security Policy" in complaints


def test_the_browser_would_see_a_page_that_is_too_wide(reported, tmp_path):
    text = (reported.folder / PAGE).read_text(encoding="utf-8")
    wide = tmp_path / "wide.html"
    wide.write_text(text.replace("<main>", '<main><p style="width:3000px">x</p>'), encoding="utf-8")
    assert measured(wide, tmp_path).startswith("[false,")
