"""Links, hosts and mail addresses in a text are no words of it."""

from __future__ import annotations

import pytest

from scan.match import Fit, decide
from scan.tokens import read
from tests.scan.match.people import NOW, a_job, looking_for


def found(keyword: str, text: str) -> bool:
    return isinstance(decide(looking_for(keyword), a_job("", text), now=NOW), Fit)


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        (".net", "https://files.net/dl/2"),
        (".net", "see bunny.net, or www.bunny.net"),
        ("dotnet", "bunny.net"),
        ("net", "bunny.net"),
        ("google", "https://docs.google.com/forms/x"),
        ("node", "(https://figma.com/x?node-id=0)"),
        ("sales", "write to sales@company.com"),
        ("company", "write to sales@company.com"),
        ("company", "sales.a+b@mail.company.co.uk"),
        ("apply here", "apply https://a.example here"),
    ],
)
def test_is_not_found(keyword, text):
    assert not found(keyword, text)


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        (".net", "ASP.NET, VB.net, ado.net"),
        (".net", "a shop of C#.NET or C#.net"),
        (".net", "experience in.net"),
        (".net", "Microsoft.NET, Foo.NET"),
        ("asp.net", "ASP.NET"),
        ("bunny.net", "We use bunny.net."),
        ("Bunny.net", "bunny.net"),
        ("monday.com", "Monday.com boards"),
        ("monday", "monday.com boards"),
        ("bubble.io", "Bubble.io"),
        ("python", "https://a.example/x,Python"),
        ("python", "[Python](https://a.example/java)"),
        ("python", "https://a.example/x\nPython"),
        ("python", "Python @ Acme"),
        ("c++", "www.a.example C++"),
    ],
)
def test_is_found(keyword, text):
    assert found(keyword, text)


@pytest.mark.parametrize("unit", ["www.", "a@", "http://", "a@b.", ".net", "a.net", "@", "a+b.c"])
def test_a_long_text_of_one_unit_is_read(unit):
    """The suite's own time limit is the bound."""
    read("", unit * 50_000)
