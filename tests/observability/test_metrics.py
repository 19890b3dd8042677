"""Counters, summed over the processes of one machine."""

from ridedash.observability.metrics import GaugeReading, Metrics


def test_counts_of_a_process_are_shown_in_prometheus_text_format() -> None:
    metrics = Metrics()
    metrics.order("UNKNOWN")
    metrics.poll("answered", late_s=-0.5)
    metrics.breaker("write", "open")
    metrics.visit("done", 41)
    metrics.visit("lost", None)
    metrics.answered("GET", "/rides/<int:order_id>", 404, 0.003)
    for number in range(3):
        # unknown label values make no series of their own
        metrics.answered(f"BREW{number}", "none", 405, 0.001)
    text = metrics.text([GaugeReading("ridedash_rides_followed", "Rides", {(): 7.0})]).decode()
    for line in (
        'ridedash_http_seconds_count{method="other",route="none",status="4xx"} 3.0',
        'ridedash_orders_total{state="UNKNOWN"} 1.0',
        'ridedash_polls_total{outcome="answered"} 1.0',
        'ridedash_poll_late_seconds_bucket{le="0.1"} 1.0',
        'ridedash_breaker{calls="write"} 1.0',
        'ridedash_kiosk_visits_total{how="done"} 1.0',
        'ridedash_kiosk_visits_total{how="lost"} 1.0',
        'ridedash_kiosk_visit_seconds_bucket{le="45.0"} 1.0',
        "ridedash_kiosk_visit_seconds_count 1.0",
        'ridedash_http_seconds_count{method="GET",route="/rides/<int:order_id>",status="4xx"} 1.0',
        "ridedash_rides_followed 7.0",
    ):
        assert line in text.splitlines()


def test_two_apps_in_one_process_count_each_for_itself() -> None:
    first, second = Metrics(), Metrics()
    first.order("BOOKED")
    assert b'state="BOOKED"' not in second.text()
