import type * as DnsFinding from "@waybill/domain/domain/DnsFinding"
import * as Domain from "@waybill/domain/domain/Domain"
import * as DomainCheck from "@waybill/domain/domain/DomainCheck"
import * as DomainZone from "@waybill/domain/domain/DomainZone"
import * as DomainSchedule from "@waybill/domain/domain/DomainSchedule"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given, happened } from "../../support/givenWhenThen.ts"
import { addition, after, foldedDomain, dkimKey, domainName, id, NOW } from "../values/examples.ts"

const { MINUTE, HOUR, DAY } = Timestamp
const ids = { domain_id: id("DomainId"), name: domainName("acme.com") }
const NOTHING_NEW = { status: 422, reason: "nothing_new" } as const

const finding = (status: DnsFinding.Status, selector = "wb1"): DnsFinding.DnsFinding => ({
  purpose: "dkim",
  host: `${selector}._domainkey`,
  status,
  found: [],
  error: status === "missing" ? "NXDOMAIN" : null,
})
const check = (at: Timestamp.Timestamp, status: DnsFinding.Status) => DomainCheck.recordCheck(at, [finding(status)])

const pending = () => happened(Domain, [], Domain.add(addition()))
const verified = () => happened(Domain, pending(), check(after(MINUTE), "verified"))
const reserved = (captured: boolean) =>
  happened(Domain, [], Domain.add(addition({ name: domainName("acme.test"), captured })))

describe("adding a domain", () => {
  it("a new domain is pending and is first checked after a minute", () => {
    given(Domain)
      .when(Domain.add(addition()))
      .appends({
        _tag: "DomainAdded",
        ...ids,
        dkim: dkimKey(),
        transport: null,
        next_check_at: after(MINUTE),
        at: NOW,
      })
    assert.strictEqual(foldedDomain(pending()).status, "pending")
  })
  it("an account has at most 1000 domains", () => {
    const addWith = (others: number) => given(Domain).when(Domain.add(addition({ others })))
    addWith(999).leads(() => undefined)
    addWith(1_000).refuses({ status: 422, reason: "too_many_domains" })
  })
  it("a domain that the account has is refused", () => {
    given(Domain)
      .when(Domain.add(addition({ taken: true })))
      .refuses({
        status: 422,
        reason: "domain_already_exists",
        message: "This account already has the domain acme.com.",
      })
  })
  it("adding a domain again under the same id changes nothing", () => {
    given(Domain, ...pending())
      .when(Domain.add(addition()))
      .refuses(NOTHING_NEW)
  })
  it("a reserved name is verified at once while its mail is captured", () => {
    const added = given(Domain).when(Domain.add(addition({ name: domainName("acme.test"), captured: true })))
    added.appendsOnly("DomainAdded", "DomainVerified")
  })
  it("a reserved name with a real transport is pending, as is any other name", () => {
    given(Domain)
      .when(Domain.add(addition({ name: domainName("acme.test") })))
      .appendsOnly("DomainAdded")
    given(Domain)
      .when(Domain.add(addition({ captured: true })))
      .appendsOnly("DomainAdded")
  })
})

describe("DNS check", () => {
  it("a domain with a published key is verified", () => {
    given(Domain, ...pending())
      .when(check(after(MINUTE), "verified"))
      .appends(
        {
          _tag: "DomainChecked",
          records: [finding("verified")],
          next_check_at: after(MINUTE + DAY),
          at: after(MINUTE),
        },
        { _tag: "DomainVerified", ...ids, method: "dns", at: after(MINUTE) },
      )
  })

  it.for<[string, ReadonlyArray<Domain.Event>, DnsFinding.Status, number, ReadonlyArray<Domain.Event["_tag"]>]>([
    ["a pending domain stays pending while its record is missing", pending(), "missing", 71 * HOUR, []],
    ["a pending domain fails after 72 hours", pending(), "missing", 72 * HOUR, ["DomainFailed"]],
    ["a pending domain does not fail while DNS fails", pending(), "unavailable", 100 * HOUR, []],
    ["a verified domain whose record is gone is degraded", verified(), "missing", DAY, ["DomainDegraded"]],
    ["a verified domain whose record differs is degraded", verified(), "mismatch", DAY, ["DomainDegraded"]],
    ["a verified domain is not degraded while DNS fails", verified(), "unavailable", DAY, []],
    ["a verified domain with its record stays verified", verified(), "verified", DAY, []],
    ["a reserved name is never verified by DNS", reserved(false), "verified", DAY, []],
  ])("%s", ([, history, status, later, consequences]) => {
    given(Domain, ...history)
      .when(check(after(later), status))
      .appendsOnly("DomainChecked", ...consequences)
  })

  it("a degraded domain sends for 72 hours, then fails", () => {
    const degraded = happened(Domain, verified(), check(after(DAY), "missing"))
    assert.strictEqual(foldedDomain(degraded).status, "degraded")
    given(Domain, ...degraded)
      .when(check(after(DAY + 72 * HOUR - 1), "missing"))
      .appendsOnly("DomainChecked")
    given(Domain, ...degraded)
      .when(check(after(DAY + 72 * HOUR), "missing"))
      .appendsOnly("DomainChecked", "DomainFailed")
    given(Domain, ...degraded)
      .when(check(after(DAY + 72 * HOUR), "unavailable"))
      .appendsOnly("DomainChecked")
  })

  it("a degraded or failed domain is verified again and keeps its first verification time", () => {
    const degraded = happened(Domain, verified(), check(after(DAY), "missing"))
    const failed = happened(Domain, degraded, check(after(5 * DAY), "missing"))
    for (const history of [degraded, failed]) {
      const back = happened(Domain, history, check(after(6 * DAY), "verified"))
      assert.deepStrictEqual([foldedDomain(back).status, foldedDomain(back).verified_at], ["verified", after(MINUTE)])
    }
  })

  it("a check with the same result within a minute is not recorded", () => {
    const checked = happened(Domain, pending(), check(after(MINUTE), "missing"))
    given(Domain, ...checked)
      .when(check(after(2 * MINUTE - 1), "missing"))
      .refuses(NOTHING_NEW)
    given(Domain, ...checked)
      .when(check(after(2 * MINUTE - 1), "mismatch"))
      .appendsOnly("DomainChecked")
    given(Domain, ...checked)
      .when(check(after(2 * MINUTE), "missing"))
      .appendsOnly("DomainChecked")
  })

  it("DNS answers are kept within limits", () => {
    const found = Array.from({ length: 30 }, () => `v=DKIM1;\u0000${"p".repeat(2000)}`)
    const checked = happened(
      Domain,
      pending(),
      DomainCheck.recordCheck(after(MINUTE), [{ ...finding("mismatch"), found }]),
    )
    const [record] = foldedDomain(checked).records
    assert.strictEqual(record?.found.length, 10)
    assert.strictEqual(record?.found[0]?.length, 1024)
    assert.match(record?.found[0] ?? "", /^v=DKIM1; ppp/u)
  })

  it("a check of a removed domain is refused", () => {
    for (const history of [[], happened(Domain, pending(), Domain.remove(NOW))])
      given(Domain, ...history)
        .when(check(NOW, "verified"))
        .refuses({ status: 404, reason: "domain_not_found" })
  })
})

describe("next DNS check", () => {
  it("a pending domain is checked after 1, 2, 4 … minutes, then hourly, and at the end of the 72 hours", () => {
    let history = pending()
    const pauses: number[] = []
    let at = NOW
    for (let next = foldedDomain(history).next_check_at; next !== null; next = foldedDomain(history).next_check_at) {
      pauses.push(Timestamp.between(at, next) / MINUTE)
      at = next
      history = happened(Domain, history, check(at, "missing"))
    }
    assert.deepStrictEqual(pauses.slice(0, 8), [1, 2, 4, 8, 16, 32, 60, 60])
    assert.strictEqual(at, after(72 * HOUR))
    assert.strictEqual(foldedDomain(history).status, "failed")
    assert.isBelow(pauses.length, 80)
  })
  it("checks continue hourly after the 72 hours while DNS fails", () => {
    const first = happened(Domain, pending(), check(after(73 * HOUR), "unavailable"))
    assert.strictEqual(foldedDomain(first).next_check_at, after(73 * HOUR + 2 * MINUTE))
    const second = happened(Domain, first, check(after(74 * HOUR), "unavailable"))
    assert.strictEqual(foldedDomain(second).next_check_at, after(74 * HOUR + 4 * MINUTE))
    assert.strictEqual(DomainSchedule.pendingCheckAt(after(72 * HOUR), NOW, 0), after(72 * HOUR + MINUTE))
  })
  it("a verified domain is checked daily, a degraded one also at the end of its 72 hours", () => {
    assert.strictEqual(foldedDomain(verified()).next_check_at, after(MINUTE + DAY))
    const degraded = happened(Domain, verified(), check(after(DAY), "missing"))
    assert.strictEqual(foldedDomain(degraded).next_check_at, after(2 * DAY))
    const nearEnd = happened(Domain, degraded, check(after(DAY + 60 * HOUR), "missing"))
    assert.strictEqual(foldedDomain(nearEnd).next_check_at, after(DAY + 72 * HOUR))
    const end = DomainSchedule.deadline(foldedDomain(nearEnd))
    assert.strictEqual(DomainSchedule.next(foldedDomain(nearEnd), end), Timestamp.plus(end, DAY))
  })
})

describe("reserved name", () => {
  it("a reserved name with captured mail is verified and checked daily", () => {
    const history = happened(Domain, reserved(false), DomainCheck.verifyReserved(after(DAY)))
    assert.deepStrictEqual(
      [foldedDomain(history).status, foldedDomain(history).next_check_at],
      ["verified", after(2 * DAY)],
    )
    given(Domain, ...history)
      .when(DomainCheck.verifyReserved(after(DAY + 1)))
      .refuses(NOTHING_NEW)
    given(Domain, ...history)
      .when(DomainCheck.verifyReserved(after(2 * DAY)))
      .appendsOnly("DomainChecked")
  })
  it("a reserved name signs with its new key from the next check on", () => {
    const rotated = happened(Domain, reserved(true), Domain.rotateDkim(after(HOUR), dkimKey("wb2")))
    const checked = given(Domain, ...rotated).when(DomainCheck.verifyReserved(after(DAY)))
    checked.appendsOnly("DomainChecked", "DkimActivated")
    checked.leads((state) => assert.strictEqual(state._tag === "Domain" && state.dkim.selector, "wb2"))
  })
  it("a reserved name is degraded when its transport becomes a real one", () => {
    const moved = given(Domain, ...reserved(true)).when(DomainCheck.recordCheck(after(DAY), [finding("missing")]))
    moved.appendsOnly("DomainChecked", "DomainDegraded")
  })
  it("only reserved names are verified without DNS", () => {
    given(Domain, ...pending())
      .when(DomainCheck.verifyReserved(NOW))
      .refuses(NOTHING_NEW)
  })
})

describe("DKIM rotation", () => {
  const rotated = () => happened(Domain, verified(), Domain.rotateDkim(after(HOUR), dkimKey("wb2")))

  it("the old key signs until the new record is published", () => {
    const domain = foldedDomain(rotated())
    assert.deepStrictEqual([domain.dkim.selector, domain.next_dkim?.selector], ["wb1", "wb2"])
    assert.deepStrictEqual(
      Domain.publishedKeys(domain).map(({ selector }) => selector),
      ["wb1", "wb2"],
    )
    const checked = given(Domain, ...rotated()).when(
      DomainCheck.recordCheck(after(2 * HOUR), [finding("verified"), finding("verified", "wb2")]),
    )
    checked.appendsOnly("DomainChecked", "DkimActivated")
    checked.leads((after) => {
      assert(after._tag === "Domain")
      assert.deepStrictEqual([after.dkim.selector, after.next_dkim], ["wb2", null])
    })
  })
  it("a domain is not degraded when the new record replaces the old one", () => {
    given(Domain, ...rotated())
      .when(DomainCheck.recordCheck(after(2 * HOUR), [finding("missing"), finding("verified", "wb2")]))
      .appendsOnly("DomainChecked", "DkimActivated")
  })
  it("a domain is degraded when the signing key's record is gone and the new one is missing", () => {
    given(Domain, ...rotated())
      .when(DomainCheck.recordCheck(after(2 * HOUR), [finding("missing"), finding("missing", "wb2")]))
      .appendsOnly("DomainChecked", "DomainDegraded")
  })
  it("a key that never signed is replaced at once", () => {
    const domain = foldedDomain(happened(Domain, pending(), Domain.rotateDkim(after(HOUR), dkimKey("wb2"))))
    assert.deepStrictEqual([domain.dkim.selector, domain.next_dkim], ["wb2", null])
  })
  it("a selector is never used twice", () => {
    assert.strictEqual(Domain.nextSelector(null, "rsa"), "wb1")
    assert.strictEqual(Domain.nextSelector(foldedDomain(pending()), "rsa"), "wb2")
    assert.strictEqual(Domain.nextSelector(foldedDomain(rotated()), "rsa"), "wb3")
  })
  it("a new record is checked soon, then hourly for three days", () => {
    assert.strictEqual(foldedDomain(rotated()).next_check_at, after(HOUR + MINUTE))
    assert.strictEqual(foldedDomain(rotated()).checks, 0)
    const checked = happened(
      Domain,
      rotated(),
      DomainCheck.recordCheck(after(2 * HOUR), [finding("verified"), finding("missing", "wb2")]),
    )
    assert.strictEqual(foldedDomain(checked).next_check_at, after(3 * HOUR))
    assert.strictEqual(DomainSchedule.next({ ...foldedDomain(checked), checks: 72 }, NOW), after(DAY))
  })
})

describe("transport, tracking and removal", () => {
  it("a transport is changed once", () => {
    const chosen = happened(Domain, pending(), Domain.chooseTransport(after(1), "relay"))
    assert.strictEqual(foldedDomain(chosen).transport, "relay")
    given(Domain, ...chosen)
      .when(Domain.chooseTransport(after(2), "relay"))
      .refuses(NOTHING_NEW)
    given(Domain, ...chosen)
      .when(Domain.chooseTransport(after(2), null))
      .appendsOnly("DomainTransportChanged")
  })
  it("tracking is turned on, and turning it off leaves no field behind", () => {
    const track = (opens: boolean | null, clicks: boolean | null) => Domain.track(after(1), { opens, clicks })
    given(Domain, ...pending())
      .when(track(false, null))
      .refuses(NOTHING_NEW)
    const opens = happened(Domain, pending(), track(true, null))
    assert.deepStrictEqual(foldedDomain(opens).tracking, { opens: true, clicks: false })
    given(Domain, ...opens)
      .when(track(true, false))
      .refuses(NOTHING_NEW)
    given(Domain, ...opens)
      .when(track(null, true))
      .appends({ _tag: "DomainTrackingChanged", opens: true, clicks: true, at: after(1) })
    assert.deepStrictEqual(foldedDomain(happened(Domain, opens, track(false, null))), foldedDomain(pending()))
  })
  it("a removed domain accepts no changes", () => {
    given(Domain, ...verified())
      .when(Domain.remove(after(1)))
      .appends({ _tag: "DomainRemoved", ...ids, at: after(1) })
    const removed = happened(Domain, verified(), Domain.remove(after(1)))
    given(Domain, ...removed)
      .when(Domain.remove(after(2)))
      .refuses({ status: 404, reason: "domain_not_found" })
    given(Domain, ...removed)
      .when(Domain.rotateDkim(after(2), dkimKey("wb2")))
      .refuses({ status: 404, reason: "domain_not_found" })
  })
})

describe("the zone of a domain", () => {
  const ofMail = () => happened(Domain, [], Domain.add(addition({ name: domainName("mail.acme.co.uk") })))
  const checked = (zone: string | null, from = ofMail()) =>
    happened(Domain, from, DomainCheck.recordCheck(after(MINUTE), [finding("missing")], zone))

  it("is what the last check told that found one", () => {
    assert.strictEqual(foldedDomain(checked("acme.co.uk")).zone, "acme.co.uk")
    const later = DomainCheck.recordCheck(after(2 * HOUR), [finding("missing")], null)
    assert.strictEqual(foldedDomain(happened(Domain, checked("acme.co.uk"), later)).zone, "acme.co.uk")
  })
  it("is never one that does not hold the domain", () => {
    for (const zone of ["other.co.uk", "x.mail.acme.co.uk", "me.co.uk", "not a name", null])
      assert.isUndefined(foldedDomain(checked(zone)).zone)
  })
  it("is found again although nothing else changed", () => {
    given(Domain, ...checked(null))
      .when(DomainCheck.recordCheck(after(MINUTE + 1_000), [finding("missing")], "acme.co.uk"))
      .leads((state) => assert.strictEqual(state._tag === "Domain" ? state.zone : undefined, "acme.co.uk"))
  })
  it("makes the host that a provider's form wants", () => {
    assert.strictEqual(DomainZone.hostIn("broken.dev", "wb1._domainkey.mail.broken.dev"), "wb1._domainkey.mail")
    assert.strictEqual(DomainZone.hostIn("mail.broken.dev", "wb1._domainkey.mail.broken.dev"), "wb1._domainkey")
    assert.strictEqual(DomainZone.hostIn("broken.dev", "broken.dev"), "@")
    assert.isNull(DomainZone.hostIn("ken.dev", "broken.dev"))
    assert.isNull(DomainZone.hostIn(null, "wb1._domainkey.mail.broken.dev"))
    assert.strictEqual(DomainZone.zoneOf({ name: "broken.dev" }), "broken.dev")
    assert.isNull(DomainZone.zoneOf({ name: "mail.broken.dev" }))
  })
})
