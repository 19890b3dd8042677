"""Recorded bodies, one of each shape of docs/service-interface.md and docs/field-notes.md."""

from typing import Any

PRODUCTS: dict[str, Any] = {
    "hotspot_zone": {
        "is_hotpot_zone": True,
        "desc": "Choose where to meet",
        "default_pickup_point_id": 2,
        "hotspot_boundary": [[12.1, 77.1], [12.2, 77.1], [12.2, 77.2]],
        "pickup_points": [
            {"lat": 12.15, "lng": 77.15, "name": "Gate 1", "id": 1},
            {"lat": 12.16, "lng": 77.16, "name": "Gate 2", "id": 2},
        ],
    },
    "categories": [
        {
            "id": "mini",
            "display_name": "Mini",
            "currency": "INR",
            "distance_unit": "kilometre",
            "time_unit": "minute",
            "eta": 3,
            "distance": "0.2",
            "ride_later_enabled": "true",
            "image": "https://img.example/mini.png",
            "hotspot_pickup_points": [1, 9],
            "fare_breakup": [
                {
                    "type": "flat_rate",
                    "minimum_distance": "4",
                    "minimum_time": "0",
                    "base_fare": "50.0",
                    "minimum_fare": "60",
                    "cost_per_distance": "8.5",
                    "waiting_cost_per_minute": "0",
                    "ride_cost_per_minute": "1",
                    "night_time_charges": "NA",
                    "night_time_duration": "NA",
                    "rates_higher_than_usual": True,
                    "surcharge": [
                        {"name": "Peak", "type": "multiplier", "value": 1.5, "description": "busy"}
                    ],
                },
                {"type": "standard_rate", "fare": "As the meter shows", "surcharge": []},
            ],
            "cancellation_policy": {
                "cancellation_charge": 30,
                "currency": "INR",
                "cancellation_charge_applies_after_time": 5,
                "time_unit": "minute",
            },
        },
        {
            "id": "share",
            "display_name": "Share",
            "currency": "INR",
            "eta": -1,
            "distance": -1,
            "select_applicable": False,
        },
    ],
    "ride_estimate": [
        {
            "category": "mini",
            "distance": 7.43,
            "travel_time_in_minutes": 22,
            "amount_min": 210,
            "amount_max": 260,
            "booking_fee": 10,
            "booking_fee_breakup": [{"display_text": "Booking fee", "value": 10}],
            "taxes": {"total_tax": 12.5},
            "hub_charges": {
                "total_hub_fee": 40,
                "pickup_hub_fee": 40,
                "pickup_hub_name": "Airport",
            },
            "discounts": {
                "discount_type": "OFFER",
                "discount_code": "TEN",
                "discount_mode": "INSTANT",
                "discount": 10,
                "cashback": 0,
                "pass_savings": 0,
            },
            "upfront": {
                "fare": 240,
                "fare_id": "f-1",
                "select_discount": 0,
                "is_upfront_applicable": True,
            },
        },
        {
            "category": "share",
            "travel_time_min": 25,
            "travel_time_max": 35,
            "travel_time_unit": "MINUTES",
            "promotional_message": "Less for more",
            "fares": [
                {
                    "seats": seats,
                    "actual_cost": 120 * seats,
                    "cost": 100 * seats,
                    "savings": 20 * seats,
                    "peak_time_charge": "1.2x",
                    "peak_time_text": "Busy",
                    "discount_string": "20 off",
                    "fare_string": "Rs 100",
                }
                for seats in (1, 2)
            ],
        },
    ],
}

SNAPSHOT: dict[str, Any] = {
    "status": "SUCCESS",
    "request_type": "TRACK_RIDE",
    "booking_id": "SHR1",
    "booking_status": "CLIENT_LOCATED",
    "pickup_location": {"lat": 12.1, "lng": 77.1},
    "drop_location": {"lat": 12.2, "lng": 77.2},
    "driver_name": "Driver Cedar",
    "driver_number": "+910000000000",
    "driver_image_url": "https://img.example/d.png",
    "vehicle_type": "sedan",
    "vehicle_number": "KA 01 AB 1234",
    "vehicle_color": "white",
    "price_details": {
        "fare": 200,
        "service_tax": 10.5,
        "discount_percentage": 5,
        "discount_value": 10,
        "toll_charges": 0,
    },
    "bearing": 90,
    "speed": 31.5,
    "driver_rating": 4.8,
    "share_ride_url": "https://share.example/r",
    "duration": {"value": 3, "unit": "MINUTE"},
    "distance": {"value": 800, "unit": "METER"},
    "driver_lat": 12.11,
    "driver_lng": 77.11,
    "passengers": [{"name": "Guest Heron"}],
    "route": [{"name": "Guest Heron", "state": "pickup", "lat": 12.1, "lng": 77.1}],
    "promotional_message": "Hello",
    "otp": {"start_trip": {"text": "Tell the driver", "value": "0412"}},
}

AUTO_COMPLETED: dict[str, Any] = {
    "status": "SUCCESS",
    "request_type": "TRACK_RIDE",
    "booking_id": "AUT1",
    "booking_status": "COMPLETED",
    "svc_money_balance": 120.5,
    "pickup_time": "2016-06-16T10:45:38.000+05:30",
    "driver_rating": "4.73269",
    "trip_info": {
        "billing_enabled": True,
        "discount": 0,
        "advance": 5,
        "convenience_charge": 10,
        "amount": 186,
        "distance": {"value": 7.4, "unit": "KMS"},
        "night_charges_applied": False,
        "night_charge_ratio": "NA",
        "payable_amount": 191,
        "trip_time": {"value": 25, "unit": "MINUTE"},
        "ride_time": {"value": 24, "unit": "MINUTE"},
        "cash_paid": 191,
    },
}

CREATED: dict[str, Any] = {
    "status": "SUCCESS",
    "booking_id": "CRN1",
    "message": "Booked",
    "merchant_txn_id": "rd-1",
    "booking_timeout": 240,
    "booking_timeout_unit": "SECONDS",
}

RETRYING: dict[str, Any] = {
    "status": "SUCCESS",
    "booking_id": None,
    "retry": {
        "booking_timeout": 5,
        "booking_timeout_unit": "MINUTES",
        "next_retry_time": "2016-06-16T10:45:38.000+05:30",
    },
    "txn_id": "TXN1",
}
