"""Runs against a service that test/clients/python.test.ts starts, through a proxy that causes faults."""
import json
import os
import subprocess
import sys
import time
import unittest
from datetime import datetime, timedelta, timezone

from waybill import Waybill, WaybillError, is_well_formed_key, verify_webhook
from waybill._sender import WritePositions

PROXY = os.environ["WAYBILL_TEST_PROXY"]
KEY = os.environ["WAYBILL_KEY"]
CALLS = json.loads(os.environ["WAYBILL_TEST_WEBHOOK"])
EMAIL = {"from": "Acme <hi@acme.test>", "to": "ana@example.org", "subject": "Hi", "text": "Hello"}


def client(mode, **options):
    return Waybill(base_url=f"{PROXY}/{mode}", **options)


def email(subject, **fields):
    return {**EMAIL, "subject": subject, **fields}


def ids(emails):
    return [each["id"] for each in emails]


class WaybillTest(unittest.TestCase):
    def refused(self, call, *args, **options):
        with self.assertRaises(WaybillError) as caught:
            call(*args, **options)
        return caught.exception

    def setUp(self):
        self.waybill = Waybill()


class Sending(WaybillTest):
    def test_send_with_every_kind_of_field(self):
        at = datetime.now(timezone.utc) + timedelta(hours=1)
        files = [{"filename": "a.txt", "content": b"Hi"}, {"filename": "b.txt", "content": "SGk="}]
        answer = self.waybill.emails.send(
            email("Every field", to=["ana@example.org", "Bo <bo@example.org>"], cc="cy@example.org",
                  html="<p>Grüße</p>", headers={"X-Order": "4711"}, tags=["receipt"], scheduled_at=at, attachments=files)
        )
        self.assertEqual(answer["status"], "queued")
        sent = self.waybill.emails.get(answer["id"])
        self.assertEqual(sent["to"], ["ana@example.org", "Bo <bo@example.org>"])
        self.assertEqual(sent["scheduled_at"], at.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
        self.assertEqual([file["size_bytes"] for file in sent["content"]["attachments"]], [2, 2])
        self.assertIn("Grüße", sent["content"]["html"])
        later = at + timedelta(hours=1)
        moved = self.waybill.emails.reschedule(answer["id"], later)
        self.assertGreater(moved["scheduled_at"], sent["scheduled_at"])
        self.assertEqual(self.waybill.emails.cancel(answer["id"])["status"], "canceled")
        copy = self.waybill.emails.resend(answer["id"])
        self.assertNotEqual(copy["id"], answer["id"])
        receipt = json.loads(self.waybill.emails.receipt(answer["id"], redact=["recipient", "subject"]))
        self.assertEqual(receipt["email"]["id"], answer["id"])
        self.assertLessEqual({"subject", "to"}, set(receipt["events"][0]["hidden"]))

    def test_batch(self):
        batch = self.waybill.emails.send_batch([email("One"), email("Two")])
        self.assertEqual([each["status"] for each in batch["data"]], ["queued", "queued"])
        mixed = [email("Three"), email("Four", to="nobody")]
        results = self.waybill.emails.send_batch(mixed, mode="permissive")["data"]
        self.assertEqual(results[0]["status"], "queued")
        self.assertEqual(results[1]["error"]["code"], "invalid_request")

    def test_own_idempotency_key(self):
        first = self.waybill.emails.send(email("Once"), idempotency_key="order-4711")
        self.assertEqual(self.waybill.emails.send(email("Once"), idempotency_key="order-4711"), first)

    def test_naive_time_is_refused(self):
        refused = self.refused(self.waybill.emails.send, email("Late", scheduled_at=datetime(2030, 1, 1)))
        self.assertEqual((refused.code, refused.reason), ("invalid_request", "validation_failed"))


class Failures(WaybillTest):
    def test_dropped_connection_sends_one_mail(self):
        for fault in ["cut", "torn", "frayed"]:
            answer = client(f"{fault}/send").emails.send(email(fault))
            self.assertEqual(ids(self.waybill.logs.all({"subject": fault})), [answer["id"]])

    def test_429_is_repeated_after_retry_after(self):
        began = time.monotonic()
        answer = client("busy/send").emails.send(email("busy"))
        self.assertGreaterEqual(time.monotonic() - began, 1)
        self.assertEqual(answer["status"], "queued")

    def test_503_and_a_broken_gateway_are_repeated(self):
        self.assertEqual(client("down/send").emails.send(email("down"))["status"], "queued")
        self.assertEqual(client("gateway/list").domains.list()["object"], "list")

    def test_exhausted_quota_is_not_repeated(self):
        refused = self.refused(client("quota/send").emails.send, email("Quota"))
        self.assertEqual((refused.status, refused.reason, refused.retry_after), (429, "monthly_quota", 86400))

    def test_last_answer_is_raised(self):
        refused = self.refused(client("broken/list", retries=1).logs.list)
        self.assertEqual((refused.status, refused.code), (502, "bad_answer"))

    def test_refusal_has_all_fields(self):
        refused = self.refused(self.waybill.emails.send, {**EMAIL, "from": "hi@unknown.test"})
        self.assertEqual((refused.status, refused.code, refused.reason), (422, "unprocessable", "domain_not_verified"))
        self.assertTrue(refused.request_id.startswith("req_"))
        self.assertIn("unknown.test", str(refused))
        refused = self.refused(self.waybill.emails.send, email("Bad", to="nobody"))
        self.assertEqual((refused.status, refused.details[0]["path"]), (400, "to"))
        refused = self.refused(self.waybill.logs.get, "msg_01k00000000000000000000000")
        self.assertEqual((refused.status, refused.code), (404, "not_found"))

    def test_redirect_is_not_followed(self):
        refused = self.refused(client("moved/list").domains.list)
        self.assertEqual((refused.status, refused.code), (307, "bad_answer"))

    def test_unreachable_service(self):
        refused = self.refused(Waybill(base_url="http://127.0.0.1:9", retries=0).domains.list)
        self.assertEqual((refused.status, refused.code), (0, "connection_failed"))

    def test_silent_service(self):
        refused = self.refused(client("silent/list", retries=0, timeout=0.3).domains.list)
        self.assertEqual((refused.status, refused.code), (0, "connection_failed"))

    def test_key_and_address(self):
        mistyped = KEY[:-1] + ("1" if KEY.endswith("0") else "0")
        for key in ["", "wb_short", mistyped]:
            self.assertEqual(self.refused(Waybill, key).code, "invalid_key")
        self.assertEqual(self.refused(Waybill, KEY, base_url="mail.example.org").code, "invalid_request")
        self.assertEqual((is_well_formed_key(KEY), is_well_formed_key(mistyped)), (True, False))
        program = "from waybill import Waybill; print(Waybill().domains.list()['object'])"
        names = ("WAYBILL_KEY", "WAYBILL_API_KEY")
        others = {name: value for name, value in os.environ.items() if name not in names}
        for name in names:
            run = subprocess.run([sys.executable, "-c", program], env={**others, name: KEY}, stdout=subprocess.PIPE)
            self.assertEqual(run.stdout.strip(), b"list")


class Reading(WaybillTest):
    def test_log_over_several_pages(self):
        batch = self.waybill.emails.send_batch([email(f"Page {nth}", tags=["paged", f"nth-{nth}"]) for nth in range(5)])
        sent = ids(batch["data"])
        query = {"tag": ["paged"], "limit": 2}
        self.assertCountEqual(ids(self.waybill.logs.all(query)), sent)
        newest_first = ids(self.waybill.logs.all(query))
        forward = self.waybill.logs.all({**query, "before": newest_first[-1]})
        self.assertEqual(ids(forward), newest_first[-2::-1])
        since = datetime(2020, 1, 1, tzinfo=timezone.utc)
        page = self.waybill.logs.list({**query, "status": ["queued", "delivered"], "created_after": since})
        self.assertEqual((len(page["data"]), page["has_more"]), (2, True))
        both = self.waybill.logs.list({"tag": ["paged", "nth-3"]})
        self.assertEqual(len(both["data"]), 1)
        one = self.waybill.logs.get(sent[0], as_of=datetime.now(timezone.utc))
        self.assertEqual(one["id"], sent[0])
        self.assertEqual(self.waybill.logs.events(sent[0])["data"][0]["type"], "email.queued")

    def test_events_after_a_position(self):
        first = self.waybill.emails.send(email("First event"))["id"]
        position = self.waybill.logs.events(first)["data"][0]["position"]
        second = self.waybill.emails.send(email("Second event"))["id"]
        later = self.waybill.events.all(position, types=["email.queued"])
        self.assertEqual([event["stream_id"] for event in later], [second])
        everything = [event["stream_id"] for event in self.waybill.events.all()]
        self.assertIn(first, everything)
        feed = self.waybill.events.list({"after_position": position, "limit": 1})
        self.assertEqual(len(feed["data"]), 1)

    def test_reads_send_the_position_of_the_last_write(self):
        waybill = client("replica/one")
        waybill.domains.list()
        waybill.emails.send(email("Replica"))
        waybill.domains.list()

    def test_positions_of_concurrent_writes_are_all_kept(self):
        positions = WritePositions()
        first, _ = positions.begin()
        second, _ = positions.begin()
        positions.add(second, "pos_b")
        positions.add(first, "pos_a")
        begun, header = positions.begin()
        self.assertEqual(header, "pos_b,pos_a")
        positions.add(begun, None)
        positions.add(begun, "pos_c")
        self.assertEqual(positions.begin()[1], "pos_c")
        for nth in range(20):
            positions.add(0, f"pos_{nth}")
        self.assertEqual(len(positions.begin()[1].split(",")), 16)

    def test_other_endpoints(self):
        self.assertEqual(self.waybill.request("GET /v1/account")["object"], "account")


class Managing(WaybillTest):
    def test_domains(self):
        domain = self.waybill.domains.add("news.test")
        self.assertEqual(domain["name"], "news.test")
        self.assertIn("news.test", [each["name"] for each in self.waybill.domains.list()["data"]])
        self.assertEqual(self.waybill.domains.verify("news.test")["status"], "verified")
        self.assertTrue(self.waybill.domains.update("news.test", {"open_tracking": True})["open_tracking"])
        self.assertNotEqual(self.waybill.domains.rotate_dkim("news.test")["records"], domain["records"])
        self.assertEqual(self.waybill.domains.get(domain["id"])["id"], domain["id"])
        self.assertTrue(self.waybill.domains.remove("news.test")["deleted"])
        self.assertEqual(self.refused(self.waybill.domains.get, "news.test").status, 404)

    def test_suppressions(self):
        address = "no/reply+bo@example.org"
        added = self.waybill.suppressions.add({"email": address, "reason": "complaint"})
        self.assertEqual((added["email"], added["reason"]), (address, "complaint"))
        self.assertEqual(self.waybill.suppressions.get(address)["id"], added["id"])
        batch = self.waybill.suppressions.batch({"add": [{"email": f"s{nth}@example.org"} for nth in range(3)]})
        self.assertEqual(batch["added"], 3)
        self.assertEqual(len(list(self.waybill.suppressions.all({"limit": 2}))), 4)
        self.assertEqual([each["email"] for each in self.waybill.suppressions.list({"q": "bo@"})["data"]], [address])
        self.assertTrue(self.waybill.suppressions.remove(address)["deleted"])
        self.assertEqual(self.refused(self.waybill.suppressions.get, address).status, 404)


class Receiving(WaybillTest):
    def test_received_mail(self):
        file = {"filename": "a.bin", "content": bytes([0, 10, 200])}
        mail = {"from": "ana@example.org", "to": "in@acme.test", "subject": "Hello", "text": "Hi", "attachments": [file]}
        made = self.waybill.inbound.test(mail)
        read = self.waybill.inbound.get(made["id"])
        self.assertEqual((read["from"]["address"], read["text"].strip()), ("ana@example.org", "Hi"))
        self.assertEqual(self.waybill.inbound.attachment(made["id"], "att_1"), file["content"])
        self.assertIn(b"Subject: Hello", self.waybill.inbound.raw(made["id"]))
        self.assertEqual(json.loads(self.waybill.inbound.receipt(made["id"]))["email"]["id"], made["id"])
        self.assertEqual(self.waybill.threads.get(made["thread_id"])["data"][0]["id"], made["id"])
        raw = self.waybill.inbound.test({"raw": b"From: bo@example.org\r\nTo: in@acme.test\r\n\r\nHi"})
        self.assertEqual(self.waybill.inbound.list({"from": "bo@example.org"})["data"][0]["id"], raw["id"])
        self.assertEqual(len(list(self.waybill.inbound.all({"limit": 1, "domain": "acme.test"}))), 2)
        self.assertTrue(self.waybill.inbound.remove(made["id"])["deleted"])
        self.assertEqual(self.refused(self.waybill.inbound.raw, made["id"]).status, 404)


    def test_answer_forward_and_replay(self):
        # Mail that is made up by a live key is not sent on.
        creation = {"name": "Tests", "mode": "test", "scopes": ["admin"]}
        waybill = Waybill(self.waybill.request("POST /v1/api-keys", body=creation)["key"])
        inbound = waybill.inbound
        made = inbound.test({"from": "ana@example.org", "to": "help@acme.test", "subject": "Help", "text": "Hi"})
        reply = inbound.reply(made["id"], {"from": "help@acme.test", "text": "Gladly."}, idempotency_key="answer-1")
        self.assertEqual(waybill.emails.get(reply["id"])["subject"], "Re: Help")
        forwarded = inbound.forward(made["id"], ["bo@example.org"])
        self.assertEqual(waybill.emails.get(forwarded["id"])["to"], ["bo@example.org"])
        self.assertEqual(inbound.replay(made["id"])["id"], made["id"])

    def test_routes(self):
        routes = self.waybill.inbound.routes
        route = routes.create({"match": {"to": "*@acme.test"}, "action": {"type": "drop"}, "stop": True})
        self.assertEqual(routes.get(route["id"]), route)
        changed = routes.update(route["id"], {"match": {}, "position": 0, "action": {"type": "store"}})
        self.assertEqual((changed["match"]["to"], changed["position"], changed["stop"]), (None, 0, True))
        self.assertEqual(ids(routes.list()["data"]), [route["id"]])
        trial = routes.test({"to": "in@acme.test", "from": "ana@example.org"})
        self.assertEqual((trial["status"], trial["routes"][0]["applies"]), ("received", True))
        self.assertTrue(routes.remove(route["id"])["deleted"])


class Templating(WaybillTest):
    def test_life_of_a_template(self):
        templates = self.waybill.templates
        words = {"subject": "Hi {{ name }}", "html": "<p>{{ name }}</p>"}
        made = templates.create({"name": "Receipt", "alias": "receipt", **words, "locales": {"de": {"subject": "Hallo"}}})
        first = templates.publish("receipt")
        self.assertEqual((first["number"], first["notes"]), (1, None))
        choice = {"alias": "receipt", "locale": "de-AT", "variables": {"name": "Ana"}}
        templated = {"from": "hi@acme.test", "to": "ana@example.org", "template": choice}
        batch = self.waybill.emails.send_batch([templated, email("Plain")])
        sent = self.waybill.emails.send(templated)
        for each in [sent, batch["data"][0]]:
            self.assertEqual(self.waybill.emails.get(each["id"])["subject"], "Hallo")
        self.assertEqual(self.waybill.logs.get(sent["id"])["template"]["id"], made["id"])

        changed = templates.update("receipt", {"subject": "Hello {{ name }}", "locales": None})
        self.assertEqual((changed["draft"]["subject"], changed["draft"]["locales"]), ("Hello {{ name }}", {}))
        templates.publish(made["id"], {"notes": "Kinder"})
        self.assertEqual(templates.render("receipt", {"version": 2, "variables": {"name": "Bo"}})["subject"], "Hello Bo")
        self.assertEqual([each["number"] for each in templates.versions("receipt")["data"]], [2, 1])
        self.assertEqual(templates.version("receipt", 2)["notes"], "Kinder")
        self.assertEqual(templates.rollback("receipt", 1)["current_version"], 1)
        self.assertEqual(templates.get("receipt")["current_version"], 1)
        copy = templates.duplicate("receipt", {"alias": "copy"})
        self.assertEqual(ids(templates.all({"limit": 1})), [copy["id"], made["id"]])
        self.assertTrue(templates.archive("copy")["archived"])
        self.assertEqual(ids(templates.list({"q": "receipt", "kind": "template"})["data"]), [made["id"]])

        pushed = templates.push({"templates": [{"alias": "news", "name": "News", "subject": "News"}], "publish": True})
        self.assertEqual((pushed["templates"][0]["action"], pushed["templates"][0]["version"]), ("created", 1))
        self.assertFalse(templates.validate({"subject": "{{ name"})["valid"])
        refused = self.refused(templates.get, "unknown")
        self.assertEqual((refused.status, refused.code), (404, "not_found"))


class Webhooks(WaybillTest):
    def verify(self, name, secret=CALLS["secret"], body=CALLS["body"], **change):
        headers = {"Webhook-Id": CALLS["id"], "Webhook-Timestamp": CALLS["timestamp"],
                   "webhook-signature": CALLS["signatures"][name], **change}
        return verify_webhook(body, headers, secret)

    def test_valid_call(self):
        self.assertEqual(self.verify("valid")["type"], "email.delivered")
        self.assertEqual(self.verify("valid", body=CALLS["body"].encode())["data"], {"subject": "Grüße"})

    def test_both_secrets_during_a_rotation(self):
        for secret in [CALLS["secret"], CALLS["other"], ["whsec_b3RoZXI=", CALLS["other"]]]:
            self.assertEqual(self.verify("rotated", secret)["id"], CALLS["id"])

    def test_refused_calls(self):
        calls = [
            lambda: self.verify("valid", body=CALLS["body"] + " "),
            lambda: self.verify("valid", CALLS["other"]),
            lambda: self.verify("unsigned"),
            lambda: self.verify("empty", ""),
            lambda: self.verify("empty", "whsec_"),
            lambda: self.verify("valid", "whsec_*"),
            lambda: self.verify("valid", **{"Webhook-Id": ""}),
            lambda: self.verify("valid", **{"Webhook-Timestamp": "yesterday"}),
            lambda: self.verify("old", **{"Webhook-Timestamp": CALLS["old_timestamp"]}),
            lambda: verify_webhook(CALLS["body"], {}, CALLS["secret"]),
        ]
        for call in calls:
            refused = self.refused(call)
            self.assertEqual((refused.code, refused.reason), ("unauthorized", "webhook_not_verified"))


unittest.main()
