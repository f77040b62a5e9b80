import { assert, describe, it } from "@effect/vitest"
import type * as DnsFinding from "@waybill/domain/DnsFinding"
import * as Domain from "@waybill/domain/Domain"
import * as DomainSchedule from "@waybill/domain/DomainSchedule"
import * as Timestamp from "@waybill/domain/Timestamp"
import { given, happened } from "../support/givenWhenThen.ts"
import { after, dkimKey, domainName, id, NOW } from "./examples.ts"

const { MINUTE, HOUR, DAY } = Timestamp
const ids = { domain_id: id("DomainId"), name: domainName("acme.com") }
const NOTHING_NEW = { status: 422, reason: "nothing_new" } as const

const addition = (over: Partial<Domain.Addition> = {}): Domain.Addition => ({
  now: NOW,
  domainId: ids.domain_id,
  name: ids.name,
  dkim: dkimKey(),
  transport: null,
  taken: false,
  others: 0,
  captured: false,
  ...over,
})

const finding = (status: DnsFinding.Status, selector = "wb1"): DnsFinding.DnsFinding => ({
  purpose: "dkim",
  host: `${selector}._domainkey`,
  status,
  found: [],
  error: status === "missing" ? "NXDOMAIN" : null,
})
const check = (at: Timestamp.Timestamp, status: DnsFinding.Status) => Domain.recordCheck(at, [finding(status)])

const pending = () => happened(Domain, [], Domain.add(addition()))
const verified = () => happened(Domain, pending(), check(after(MINUTE), "verified"))
const reserved = (captured: boolean) =>
  happened(Domain, [], Domain.add(addition({ name: domainName("acme.test"), captured })))

const folded = (history: ReadonlyArray<Domain.Event>): Domain.Domain => {
  const { state } = given(Domain, ...history)
  assert(state._tag === "Domain")
  return state
}

describe("adding a domain", () => {
  it("leaves it pending, with a first look into DNS after a minute", () => {
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
    assert.strictEqual(folded(pending()).status, "pending")
  })
  it("is the thousandth and last of an account", () => {
    const beside = (others: number) => given(Domain).when(Domain.add(addition({ others })))
    beside(999).leads(() => undefined)
    beside(1_000).refuses({ status: 422, reason: "too_many_domains" })
  })
  it("is refused when the account has it", () => {
    given(Domain)
      .when(Domain.add(addition({ taken: true })))
      .refuses({
        status: 422,
        reason: "domain_already_exists",
        message: "This account already has the domain acme.com.",
      })
  })
  it("appends nothing a second time under the same id", () => {
    given(Domain, ...pending())
      .when(Domain.add(addition()))
      .refuses(NOTHING_NEW)
  })
  it("verifies a reserved name at once while mail stays on this machine", () => {
    const added = given(Domain).when(Domain.add(addition({ name: domainName("acme.test"), captured: true })))
    added.appendsOnly("DomainAdded", "DomainVerified")
  })
  it("leaves a reserved name pending on a real transport, and a real name on any", () => {
    given(Domain)
      .when(Domain.add(addition({ name: domainName("acme.test") })))
      .appendsOnly("DomainAdded")
    given(Domain)
      .when(Domain.add(addition({ captured: true })))
      .appendsOnly("DomainAdded")
  })
})

describe("a look into DNS", () => {
  it("verifies a domain whose key is published", () => {
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
    ["leaves a pending domain pending while its record is missing", pending(), "missing", 71 * HOUR, []],
    ["fails a pending domain after 72 hours", pending(), "missing", 72 * HOUR, ["DomainFailed"]],
    ["fails nobody while DNS is in trouble", pending(), "unavailable", 100 * HOUR, []],
    ["degrades a verified domain whose record vanished", verified(), "missing", DAY, ["DomainDegraded"]],
    ["degrades a verified domain whose record says something else", verified(), "mismatch", DAY, ["DomainDegraded"]],
    ["never degrades for DNS in trouble", verified(), "unavailable", DAY, []],
    ["leaves a verified domain verified", verified(), "verified", DAY, []],
    ["never verifies a reserved name", reserved(false), "verified", DAY, []],
  ])("%s", ([, history, status, later, consequences]) => {
    given(Domain, ...history)
      .when(check(after(later), status))
      .appendsOnly("DomainChecked", ...consequences)
  })

  it("lets a degraded domain send for 72 hours, then fails it", () => {
    const degraded = happened(Domain, verified(), check(after(DAY), "missing"))
    assert.strictEqual(folded(degraded).status, "degraded")
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

  it("brings a degraded or a failed domain back, with the day it first was verified", () => {
    const degraded = happened(Domain, verified(), check(after(DAY), "missing"))
    const failed = happened(Domain, degraded, check(after(5 * DAY), "missing"))
    for (const history of [degraded, failed]) {
      const back = happened(Domain, history, check(after(6 * DAY), "verified"))
      assert.deepStrictEqual([folded(back).status, folded(back).verified_at], ["verified", after(MINUTE)])
    }
  })

  it("is no news within a minute of one that said the same", () => {
    const looked = happened(Domain, pending(), check(after(MINUTE), "missing"))
    given(Domain, ...looked)
      .when(check(after(2 * MINUTE - 1), "missing"))
      .refuses(NOTHING_NEW)
    given(Domain, ...looked)
      .when(check(after(2 * MINUTE - 1), "mismatch"))
      .appendsOnly("DomainChecked")
    given(Domain, ...looked)
      .when(check(after(2 * MINUTE), "missing"))
      .appendsOnly("DomainChecked")
  })

  it("keeps what DNS answered, within bounds", () => {
    const found = Array.from({ length: 30 }, () => `v=DKIM1;\u0000${"p".repeat(2000)}`)
    const looked = happened(Domain, pending(), Domain.recordCheck(after(MINUTE), [{ ...finding("mismatch"), found }]))
    const [record] = folded(looked).records
    assert.strictEqual(record?.found.length, 10)
    assert.strictEqual(record?.found[0]?.length, 1024)
    assert.match(record?.found[0] ?? "", /^v=DKIM1; ppp/u)
  })

  it("of a domain that is gone is refused", () => {
    for (const history of [[], happened(Domain, pending(), Domain.remove(NOW))])
      given(Domain, ...history)
        .when(check(NOW, "verified"))
        .refuses({ status: 404, reason: "domain_not_found" })
  })
})

describe("the next look", () => {
  it("comes after 1, 2, 4 … minutes, then hourly, and last at the end of the 72 hours", () => {
    let history = pending()
    const pauses: number[] = []
    let at = NOW
    for (let next = folded(history).next_check_at; next !== null; next = folded(history).next_check_at) {
      pauses.push(Timestamp.between(at, next) / MINUTE)
      at = next
      history = happened(Domain, history, check(at, "missing"))
    }
    assert.deepStrictEqual(pauses.slice(0, 8), [1, 2, 4, 8, 16, 32, 60, 60])
    assert.strictEqual(at, after(72 * HOUR))
    assert.strictEqual(folded(history).status, "failed")
    assert.isBelow(pauses.length, 80)
  })
  it("keeps its pace past the 72 hours while DNS gives no answer", () => {
    const first = happened(Domain, pending(), check(after(73 * HOUR), "unavailable"))
    assert.strictEqual(folded(first).next_check_at, after(73 * HOUR + 2 * MINUTE))
    const second = happened(Domain, first, check(after(74 * HOUR), "unavailable"))
    assert.strictEqual(folded(second).next_check_at, after(74 * HOUR + 4 * MINUTE))
    assert.strictEqual(DomainSchedule.whilePending(after(72 * HOUR), NOW, 0), after(72 * HOUR + MINUTE))
  })
  it("comes daily once verified, and at the end of its grace when degraded", () => {
    assert.strictEqual(folded(verified()).next_check_at, after(MINUTE + DAY))
    const degraded = happened(Domain, verified(), check(after(DAY), "missing"))
    assert.strictEqual(folded(degraded).next_check_at, after(2 * DAY))
    const nearEnd = happened(Domain, degraded, check(after(DAY + 60 * HOUR), "missing"))
    assert.strictEqual(folded(nearEnd).next_check_at, after(DAY + 72 * HOUR))
    const end = DomainSchedule.deadline(folded(nearEnd))
    assert.strictEqual(DomainSchedule.next(folded(nearEnd), end), Timestamp.plus(end, DAY))
  })
})

describe("a reserved name", () => {
  it("is verified on a transport that keeps mail here, and looked after daily", () => {
    const known = happened(Domain, reserved(false), Domain.verifyReserved(after(DAY)))
    assert.deepStrictEqual([folded(known).status, folded(known).next_check_at], ["verified", after(2 * DAY)])
    given(Domain, ...known)
      .when(Domain.verifyReserved(after(DAY + 1)))
      .refuses(NOTHING_NEW)
    given(Domain, ...known)
      .when(Domain.verifyReserved(after(2 * DAY)))
      .appendsOnly("DomainChecked")
  })
  it("signs with its new key from the next look on", () => {
    const rotated = happened(Domain, reserved(true), Domain.rotateDkim(after(HOUR), dkimKey("wb2")))
    const looked = given(Domain, ...rotated).when(Domain.verifyReserved(after(DAY)))
    looked.appendsOnly("DomainChecked", "DkimActivated")
    looked.leads((state) => assert.strictEqual(state._tag === "Domain" && state.dkim.selector, "wb2"))
  })
  it("degrades when the transport became a real one", () => {
    const moved = given(Domain, ...reserved(true)).when(Domain.recordCheck(after(DAY), [finding("missing")]))
    moved.appendsOnly("DomainChecked", "DomainDegraded")
  })
  it("is the only kind that is taken on trust", () => {
    given(Domain, ...pending())
      .when(Domain.verifyReserved(NOW))
      .refuses(NOTHING_NEW)
  })
})

describe("rotating the DKIM key", () => {
  const rotated = () => happened(Domain, verified(), Domain.rotateDkim(after(HOUR), dkimKey("wb2")))

  it("signs with the old key until DNS shows the new one", () => {
    const domain = folded(rotated())
    assert.deepStrictEqual([domain.dkim.selector, domain.next_dkim?.selector], ["wb1", "wb2"])
    assert.deepStrictEqual(
      Domain.publishedKeys(domain).map(({ selector }) => selector),
      ["wb1", "wb2"],
    )
    const looked = given(Domain, ...rotated()).when(
      Domain.recordCheck(after(2 * HOUR), [finding("verified"), finding("verified", "wb2")]),
    )
    looked.appendsOnly("DomainChecked", "DkimActivated")
    looked.leads((after) => {
      assert(after._tag === "Domain")
      assert.deepStrictEqual([after.dkim.selector, after.next_dkim], ["wb2", null])
    })
  })
  it("does not degrade when the old record went and the new one came", () => {
    given(Domain, ...rotated())
      .when(Domain.recordCheck(after(2 * HOUR), [finding("missing"), finding("verified", "wb2")]))
      .appendsOnly("DomainChecked", "DkimActivated")
  })
  it("degrades when the key that signs vanished and the new one is not there", () => {
    given(Domain, ...rotated())
      .when(Domain.recordCheck(after(2 * HOUR), [finding("missing"), finding("missing", "wb2")]))
      .appendsOnly("DomainChecked", "DomainDegraded")
  })
  it("replaces the key at once where none has signed yet", () => {
    const domain = folded(happened(Domain, pending(), Domain.rotateDkim(after(HOUR), dkimKey("wb2"))))
    assert.deepStrictEqual([domain.dkim.selector, domain.next_dkim], ["wb2", null])
  })
  it("never uses a selector twice", () => {
    assert.strictEqual(Domain.nextSelector(null, "rsa"), "wb1")
    assert.strictEqual(Domain.nextSelector(folded(pending()), "rsa"), "wb2")
    assert.strictEqual(Domain.nextSelector(folded(rotated()), "rsa"), "wb3")
  })
  it("is looked for soon, then hourly for three days", () => {
    assert.strictEqual(folded(rotated()).next_check_at, after(HOUR + MINUTE))
    assert.strictEqual(folded(rotated()).checks, 0)
    const looked = happened(
      Domain,
      rotated(),
      Domain.recordCheck(after(2 * HOUR), [finding("verified"), finding("missing", "wb2")]),
    )
    assert.strictEqual(folded(looked).next_check_at, after(3 * HOUR))
    assert.strictEqual(DomainSchedule.next({ ...folded(looked), checks: 72 }, NOW), after(DAY))
  })
})

describe("the rest of a domain's life", () => {
  it("may choose its own transport, and says so once", () => {
    const chosen = happened(Domain, pending(), Domain.chooseTransport(after(1), "relay"))
    assert.strictEqual(folded(chosen).transport, "relay")
    given(Domain, ...chosen)
      .when(Domain.chooseTransport(after(2), "relay"))
      .refuses(NOTHING_NEW)
    given(Domain, ...chosen)
      .when(Domain.chooseTransport(after(2), null))
      .appendsOnly("DomainTransportChanged")
  })
  it("has its mail tracked when its owner says so, and bears no trace of it when they do not", () => {
    const track = (opens: boolean | null, clicks: boolean | null) => Domain.track(after(1), { opens, clicks })
    given(Domain, ...pending())
      .when(track(false, null))
      .refuses(NOTHING_NEW)
    const opens = happened(Domain, pending(), track(true, null))
    assert.deepStrictEqual(folded(opens).tracking, { opens: true, clicks: false })
    given(Domain, ...opens)
      .when(track(true, false))
      .refuses(NOTHING_NEW)
    given(Domain, ...opens)
      .when(track(null, true))
      .appends({ _tag: "DomainTrackingChanged", opens: true, clicks: true, at: after(1) })
    assert.deepStrictEqual(folded(happened(Domain, opens, track(false, null))), folded(pending()))
  })
  it("ends with its removal", () => {
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
