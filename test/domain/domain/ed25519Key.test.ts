import type * as Aggregate from "@waybill/domain/values/Aggregate"
import type { DkimKey } from "@waybill/domain/domain/DkimKey"
import * as DnsFinding from "@waybill/domain/domain/DnsFinding"
import * as Domain from "@waybill/domain/domain/Domain"
import type * as DomainState from "@waybill/domain/domain/DomainState"
import * as DomainCheck from "@waybill/domain/domain/DomainCheck"
import * as DomainSchedule from "@waybill/domain/domain/DomainSchedule"
import type { Refusal } from "@waybill/domain/values/Refusal"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Arbitrary, Result, Schema } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"
import { given, happened } from "../../support/givenWhenThen.ts"
import { addDomain, after, dkimKey, foldedDomain, NOW } from "../values/examples.ts"

const { MINUTE, HOUR, DAY } = Timestamp
const NOTHING_NEW = { status: 422, reason: "nothing_new" } as const
const NOT_FOUND = { status: 404, reason: "domain_not_found" } as const

type Found = Readonly<Record<string, DnsFinding.Status>>
const look = (at: Timestamp.Timestamp, found: Found) =>
  DomainCheck.recordCheck(
    at,
    Object.entries(found).map(([selector, status]) => ({
      purpose: "dkim",
      host: DnsFinding.dkimHost(selector),
      status,
      found: [],
      error: null,
    })),
  )

const signing = (history: ReadonlyArray<Domain.Event>) =>
  Domain.signingKeys(foldedDomain(history)).map(({ selector }) => selector)
const published = (history: ReadonlyArray<Domain.Event>) =>
  Domain.publishedKeys(foldedDomain(history)).map(({ selector }) => selector)

const verified = () => happened(Domain, [], addDomain(), look(after(MINUTE), { wb1: "verified" }))
const added = () => happened(Domain, verified(), Domain.addEd25519(after(HOUR), dkimKey("wbe1")))
const both = () => happened(Domain, added(), look(after(2 * HOUR), { wb1: "verified", wbe1: "verified" }))
const rotated = () => happened(Domain, both(), Domain.rotateEd25519(after(3 * HOUR), dkimKey("wbe2")))

describe("Ed25519 key", () => {
  it("a new key is published at once and checked after a minute", () => {
    given(Domain, ...verified())
      .when(Domain.addEd25519(after(HOUR), dkimKey("wbe1")))
      .appends({ _tag: "Ed25519Made", dkim: dkimKey("wbe1"), next_check_at: after(HOUR + MINUTE), at: after(HOUR) })
    assert.deepStrictEqual(published(added()), ["wb1", "wbe1"])
    assert.deepStrictEqual(signing(added()), ["wb1"])
  })

  it("the key signs beside the RSA key once its record is published", () => {
    given(Domain, ...added())
      .when(look(after(2 * HOUR), { wb1: "verified", wbe1: "verified" }))
      .appendsOnly("DomainChecked", "Ed25519Activated")
    assert.deepStrictEqual(signing(both()), ["wb1", "wbe1"])
  })

  it("a key is added once and removed once", () => {
    given(Domain, ...added())
      .when(Domain.addEd25519(after(2 * HOUR), dkimKey("wbe2")))
      .refuses(NOTHING_NEW)
    const removed = happened(Domain, both(), Domain.removeEd25519(after(3 * HOUR)))
    assert.deepStrictEqual([signing(removed), published(removed)], [["wb1"], ["wb1"]])
    given(Domain, ...removed)
      .when(Domain.removeEd25519(after(4 * HOUR)))
      .refuses(NOTHING_NEW)
    given(Domain, ...removed)
      .when(Domain.rotateEd25519(after(4 * HOUR), dkimKey("wbe2")))
      .refuses({ status: 422, reason: "no_ed25519_key" })
  })

  it("a selector is never used twice, nor shared with the RSA keys", () => {
    const next = (history: ReadonlyArray<Domain.Event>) => Domain.nextSelector(foldedDomain(history), "ed25519")
    const removed = happened(Domain, rotated(), Domain.removeEd25519(after(4 * HOUR)))
    assert.deepStrictEqual([verified(), added(), rotated(), removed].map(next), ["wbe1", "wbe2", "wbe3", "wbe3"])
    assert.strictEqual(Domain.nextSelector(foldedDomain(removed), "rsa"), "wb2")
  })

  it.for<[string, () => ReadonlyArray<Domain.Event>, Found, ReadonlyArray<Domain.Event["_tag"]>, string[]]>([
    [
      "a key stops signing when its record is gone",
      both,
      { wb1: "verified", wbe1: "missing" },
      ["Ed25519Suspended"],
      ["wb1"],
    ],
    [
      "a key stops signing when its record differs",
      both,
      { wb1: "verified", wbe1: "mismatch" },
      ["Ed25519Suspended"],
      ["wb1"],
    ],
    ["a key goes on signing while DNS fails", both, { wb1: "verified", wbe1: "unavailable" }, [], ["wb1", "wbe1"]],
    [
      "a key goes on signing while the domain is degraded",
      both,
      { wb1: "missing", wbe1: "verified" },
      ["DomainDegraded"],
      ["wb1", "wbe1"],
    ],
    [
      "a key starts signing while the RSA record cannot be read",
      added,
      { wb1: "unavailable", wbe1: "verified" },
      ["Ed25519Activated"],
      ["wb1", "wbe1"],
    ],
    [
      "the old key signs until the new record is published",
      rotated,
      { wb1: "verified", wbe1: "verified", wbe2: "missing" },
      [],
      ["wb1", "wbe1"],
    ],
    [
      "the new key signs once its record is published",
      rotated,
      { wb1: "verified", wbe1: "verified", wbe2: "verified" },
      ["Ed25519Activated"],
      ["wb1", "wbe2"],
    ],
    [
      "the new key signs even if the old record is gone",
      rotated,
      { wb1: "verified", wbe1: "missing", wbe2: "verified" },
      ["Ed25519Activated"],
      ["wb1", "wbe2"],
    ],
    [
      "no Ed25519 key signs if the old record is gone and the new one missing",
      rotated,
      { wb1: "verified", wbe1: "missing", wbe2: "missing" },
      ["Ed25519Suspended"],
      ["wb1"],
    ],
  ])("%s", ([, history, found, consequences, keys]) => {
    const checked = look(after(5 * HOUR), found)
    given(Domain, ...history())
      .when(checked)
      .appendsOnly("DomainChecked", ...consequences)
    assert.deepStrictEqual(signing(happened(Domain, history(), checked)), keys)
  })

  it("a key signs again when its record is back, or its successor's is published", () => {
    const gone = happened(Domain, rotated(), look(after(4 * HOUR), { wb1: "verified", wbe1: "missing" }))
    for (const selector of ["wbe1", "wbe2"]) {
      const back = happened(Domain, gone, look(after(5 * HOUR), { wb1: "verified", [selector]: "verified" }))
      assert.deepStrictEqual(signing(back), ["wb1", selector])
    }
  })

  it("a key that does not sign is replaced at once", () => {
    const replaced = happened(Domain, added(), Domain.rotateEd25519(after(2 * HOUR), dkimKey("wbe2")))
    assert.deepStrictEqual(published(replaced), ["wb1", "wbe2"])
    assert.deepStrictEqual(published(rotated()), ["wb1", "wbe1", "wbe2"])
  })

  it("Ed25519 and RSA keys rotate independently", () => {
    const history = happened(
      Domain,
      rotated(),
      Domain.rotateDkim(after(4 * HOUR), dkimKey("wb2")),
      look(after(5 * HOUR), { wb1: "verified", wb2: "verified", wbe1: "verified", wbe2: "missing" }),
    )
    assert.deepStrictEqual(
      [signing(history), published(history)],
      [
        ["wb2", "wbe1"],
        ["wb2", "wbe1", "wbe2"],
      ],
    )
  })

  it("a key is checked hourly while its record is missing, and daily once it signs", () => {
    const missing = happened(Domain, added(), look(after(2 * HOUR), { wb1: "verified", wbe1: "missing" }))
    assert.strictEqual(foldedDomain(missing).next_check_at, after(3 * HOUR))
    assert.strictEqual(DomainSchedule.next({ ...foldedDomain(missing), checks: 72 }, NOW), after(DAY))
    assert.strictEqual(foldedDomain(both()).next_check_at, after(2 * HOUR + DAY))
    const old = happened(
      Domain,
      both(),
      ...Array.from({ length: 80 }, (_, n) => look(after((n + 1) * DAY), { wb1: "verified", wbe1: "verified" })),
    )
    const gone = happened(Domain, old, look(after(81 * DAY), { wb1: "verified", wbe1: "missing" }))
    assert.strictEqual(foldedDomain(gone).next_check_at, after(81 * DAY + HOUR))
    const waits = happened(Domain, rotated(), look(after(4 * HOUR), { wb1: "verified", wbe1: "verified" }))
    assert.strictEqual(foldedDomain(waits).next_check_at, after(5 * HOUR))
  })

  it("a key of a reserved name signs from the next check on", () => {
    const reserved = happened(Domain, [], addDomain("acme.test", true), Domain.addEd25519(after(HOUR), dkimKey("wbe1")))
    const checked = given(Domain, ...reserved).when(DomainCheck.verifyReserved(after(2 * HOUR)))
    checked.appendsOnly("DomainChecked", "Ed25519Activated")
    const known = happened(Domain, reserved, DomainCheck.verifyReserved(after(2 * HOUR)))
    given(Domain, ...known)
      .when(DomainCheck.verifyReserved(after(2 * HOUR + DAY)))
      .appendsOnly("DomainChecked")
    const next = happened(Domain, known, Domain.rotateEd25519(after(3 * HOUR), dkimKey("wbe2")))
    assert.deepStrictEqual(signing(happened(Domain, next, DomainCheck.verifyReserved(after(4 * HOUR)))), [
      "wb1",
      "wbe2",
    ])
  })

  it("a removed domain has no Ed25519 key and accepts none", () => {
    const gone = happened(Domain, both(), Domain.remove(after(3 * HOUR)))
    for (const history of [[], gone]) {
      given(Domain, ...history)
        .when(Domain.addEd25519(NOW, dkimKey("wbe1")))
        .refuses(NOT_FOUND)
      given(Domain, ...history)
        .when(Domain.rotateEd25519(NOW, dkimKey("wbe1")))
        .refuses(NOT_FOUND)
      given(Domain, ...history)
        .when(Domain.removeEd25519(NOW))
        .refuses(NOT_FOUND)
    }
  })

  /** An action, or the DNS answers of the next check. */
  const Step = Schema.Union([
    Schema.Literals(["add", "rotate", "remove", "rotate the RSA key"]),
    Schema.Struct({ rsa: DnsFinding.Status, ed25519: DnsFinding.Status, next: DnsFinding.Status }),
  ])

  it.prop(
    "the Ed25519 key never affects the domain's status or its RSA key",
    { steps: Arbitrary.array(Arbitrary.schema(Step), { maxLength: 20 }) },
    ({ steps }) => {
      let one = verified()
      let other = verified()
      for (const [n, step] of steps.entries()) {
        const at = after((n + 1) * DAY)
        const selector = Domain.nextSelector(foldedDomain(one), step === "rotate the RSA key" ? "rsa" : "ed25519")
        const verdict = decisionOf(step, at, foldedDomain(one), selector)(foldedDomain(one))
        if (Result.isSuccess(verdict)) one = one.concat(verdict.success)
        if (typeof step !== "string" || step === "rotate the RSA key")
          other = happened(Domain, other, decisionOf(step, at, foldedDomain(other), selector))
      }
      const apart = ({ checks, ed25519, next_check_at, records, ...rest }: DomainState.Domain) => rest
      assert.deepStrictEqual(apart(foldedDomain(one)), apart(foldedDomain(other)))
      assert.strictEqual(signing(one)[0], foldedDomain(other).dkim.selector)
      const selectors = one.flatMap((event) => ("dkim" in event ? [event.dkim.selector] : []))
      assert.strictEqual(new Set(selectors).size, selectors.length)
    },
  )

  const decisionOf = (
    step: typeof Step.Type,
    at: Timestamp.Timestamp,
    domain: DomainState.Domain,
    selector: string,
  ): Aggregate.Decide<Domain.State, Domain.Event, Refusal> => {
    switch (step) {
      case "add":
        return Domain.addEd25519(at, dkimKey(selector))
      case "rotate":
        return Domain.rotateEd25519(at, dkimKey(selector))
      case "remove":
        return Domain.removeEd25519(at)
      case "rotate the RSA key":
        return Domain.rotateDkim(at, dkimKey(selector))
      default: {
        const { dkim, ed25519 } = domain
        const statusOf = (key: DkimKey) => (key === dkim ? step.rsa : key === ed25519?.dkim ? step.ed25519 : step.next)
        return look(at, Object.fromEntries(Domain.publishedKeys(domain).map((key) => [key.selector, statusOf(key)])))
      }
    }
  }
})
