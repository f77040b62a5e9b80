"""A typed client for the Waybill API, without dependencies."""
from ._client import Waybill
from ._error import WaybillError
from ._key import is_well_formed_key
from ._webhook import WebhookEvent, verify_webhook

__all__ = ["Waybill", "WaybillError", "WebhookEvent", "is_well_formed_key", "verify_webhook"]
