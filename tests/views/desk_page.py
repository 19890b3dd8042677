"""A page with the compact form in a column of the board's width, for tests of the form alone."""

from flask import Flask, render_template_string

from ridedash.views.booking.form import compact_form
from ridedash.views.web.permissions import BOOK, needs

PATH = "/form-of-the-desk"
PAGE = """{% extends "web/base.html" %}
{% block title %}Desk{% endblock %}
{% block head %}<link rel="stylesheet" href="/static/css/booking/booking.css">
<style nonce="{{ csp_nonce }}">.column { inline-size: 340px; block-size: 740px; }</style>
{% endblock %}
{% block main %}<h1 class="visually-hidden">Desk</h1>
<div class="column">{% include "booking/_compact.html" %}</div>
<p><button type="button" id="elsewhere">Elsewhere</button></p>{% endblock %}
{% block scripts %}
<script type="module" nonce="{{ csp_nonce }}" src="/static/js/booking/desk.js"></script>
<script nonce="{{ csp_nonce }}">
  window.booked = [];
  document.addEventListener("ridedash:booked", ({detail}) => window.booked.push(detail.order));
</script>
{% endblock %}"""


def serve(app: Flask) -> None:
    """Add the page to an app that has served no request yet."""

    def show() -> str:
        return render_template_string(PAGE, **compact_form())

    app.add_url_rule(PATH, "form_of_the_desk", needs(BOOK)(show))
