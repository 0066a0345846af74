"""The settings of the mail providers: a bad one stops the start with one line that names it and shows no key."""

from __future__ import annotations

import pytest

from app.environment import BadSetting
from app.settings import load
from app.wiring import transport_of

KEY = "SG.secret-key"


@pytest.mark.parametrize(
    ("environ", "names"),
    [
        ({"SCOUT_MAIL": "sendgrid:"}, "SENDGRID_API_KEY"),
        ({"SCOUT_MAIL": "sendgrid:", "SENDGRID_API_KEY": "  \n"}, "SENDGRID_API_KEY"),
        ({"SCOUT_MAIL": "sendgrid:", "SENDGRID_API_KEY": f"{KEY} {KEY}"}, "SENDGRID_API_KEY"),
        ({"SCOUT_MAIL": "sendgrid:", "SENDGRID_API_KEY": f"{KEY}\u2026"}, "SENDGRID_API_KEY"),
        ({"SCOUT_MAIL": "resend:", "SENDGRID_API_KEY": KEY}, "RESEND_API_KEY"),
        ({"SCOUT_MAIL": f"sendgrid:{KEY}", "SENDGRID_API_KEY": KEY}, "SCOUT_MAIL"),
        ({"SCOUT_SENDGRID_URL": "api.example.com"}, "SCOUT_SENDGRID_URL"),
        ({"SCOUT_RESEND_URL": "https://api.example.com?x=1"}, "SCOUT_RESEND_URL"),
        ({"SCOUT_SENDGRID_WEBHOOK_KEY": "two words"}, "SCOUT_SENDGRID_WEBHOOK_KEY"),
    ],
)
def test_a_bad_provider_setting_is_refused_in_one_line_without_the_key(environ: dict[str, str], names: str) -> None:
    with pytest.raises(BadSetting) as refused:
        load(environ)
    said = str(refused.value)
    assert said.startswith(names)
    assert "\n" not in said
    assert KEY not in said


@pytest.mark.parametrize("mail", ["sendgrid:", "sendgrid://", "resend:", "resend://"])
async def test_a_key_is_trimmed_and_makes_a_transport(mail: str) -> None:
    settings = load({"SCOUT_MAIL": mail, "SENDGRID_API_KEY": f" {KEY}\n", "RESEND_API_KEY": f"{KEY}\r\n"})
    assert settings.sendgrid_api_key == settings.resend_api_key == KEY
    transport = transport_of(settings)
    assert transport.name == mail.partition(":")[0]
    await transport.close()
    assert KEY not in repr(settings)
