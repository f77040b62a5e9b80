import { assert, describe, it } from "@effect/vitest"
import type * as Aggregate from "@waybill/domain/Aggregate"
import type { DkimKey } from "@waybill/domain/DkimKey"
import * as DnsFinding from "@waybill/domain/DnsFinding"
import * as Domain from "@waybill/domain/Domain"
import * as DomainSchedule from "@waybill/domain/DomainSchedule"
import type { Refusal } from "@waybill/domain/Refusal"
import * as Timestamp from "@waybill/domain/Timestamp"
import { Arbitrary, Result, Schema } from "effect"
import { given, happened } from "../support/givenWhenThen.ts"
import { after, dkimKey, domainName, id, NOW } from "./examples.ts"

const { MINUTE, HOUR, DAY } = Timestamp
const NOTHING_NEW = { status: 422, reason: "nothing_new" } as const
const NOT_FOUND = { status: 404, reason: "domain_not_found" } as const

const add = (name = "acme.com", captured = false) =>
  Domain.add({
    now: NOW,
    domainId: id("DomainId"),
    name: domainName(name),
    dkim: dkimKey(),
    transport: null,
    taken: false,
    others: 0,
    captured,
  })

type Found = Readonly<Record<string, DnsFinding.Status>>
const look = (at: Timestamp.Timestamp, found: Found) =>
  Domain.recordCheck(
    at,
    Object.entries(found).map(([selector, status]) => ({
      purpose: "dkim",
      host: DnsFinding.dkimHost(selector),
      status,
      found: [],
      error: null,
    })),
  )

const folded = (history: ReadonlyArray<Domain.Event>): Domain.Domain => {
  const { state } = given(Domain, ...history)
  assert(state._tag === "Domain")
  return state
}
const signing = (history: ReadonlyArray<Domain.Event>) =>
  Domain.signingKeys(folded(history)).map(({ selector }) => selector)
const published = (history: ReadonlyArray<Domain.Event>) =>
  Domain.publishedKeys(folded(history)).map(({ selector }) => selector)

const verified = () => happened(Domain, [], add(), look(after(MINUTE), { wb1: "verified" }))
const added = () => happened(Domain, verified(), Domain.addEd25519(after(HOUR), dkimKey("wbe1")))
const both = () => happened(Domain, added(), look(after(2 * HOUR), { wb1: "verified", wbe1: "verified" }))
const rotated = () => happened(Domain, both(), Domain.rotateEd25519(after(3 * HOUR), dkimKey("wbe2")))

describe("an Ed25519 key", () => {
  it("is published from the start, and looked for after a minute", () => {
    given(Domain, ...verified())
      .when(Domain.addEd25519(after(HOUR), dkimKey("wbe1")))
      .appends({ _tag: "Ed25519Made", dkim: dkimKey("wbe1"), next_check_at: after(HOUR + MINUTE), at: after(HOUR) })
    assert.deepStrictEqual(published(added()), ["wb1", "wbe1"])
    assert.deepStrictEqual(signing(added()), ["wb1"])
  })

  it("signs beside the other once DNS shows it", () => {
    given(Domain, ...added())
      .when(look(after(2 * HOUR), { wb1: "verified", wbe1: "verified" }))
      .appendsOnly("DomainChecked", "Ed25519Activated")
    assert.deepStrictEqual(signing(both()), ["wb1", "wbe1"])
  })

  it("is made once, and not taken away twice", () => {
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

  it("never bears a selector twice, nor one of the RSA keys", () => {
    const next = (history: ReadonlyArray<Domain.Event>) => Domain.nextSelector(folded(history), "ed25519")
    const removed = happened(Domain, rotated(), Domain.removeEd25519(after(4 * HOUR)))
    assert.deepStrictEqual([verified(), added(), rotated(), removed].map(next), ["wbe1", "wbe2", "wbe3", "wbe3"])
    assert.strictEqual(Domain.nextSelector(folded(removed), "rsa"), "wb2")
  })

  it.for<[string, () => ReadonlyArray<Domain.Event>, Found, ReadonlyArray<Domain.Event["_tag"]>, string[]]>([
    ["signs no more once its record went", both, { wb1: "verified", wbe1: "missing" }, ["Ed25519Suspended"], ["wb1"]],
    ["nor when it is another", both, { wb1: "verified", wbe1: "mismatch" }, ["Ed25519Suspended"], ["wb1"]],
    ["goes on while DNS gives no answer", both, { wb1: "verified", wbe1: "unavailable" }, [], ["wb1", "wbe1"]],
    [
      "goes on while the domain is degraded",
      both,
      { wb1: "missing", wbe1: "verified" },
      ["DomainDegraded"],
      ["wb1", "wbe1"],
    ],
    [
      "begins also while the other gives no answer",
      added,
      { wb1: "unavailable", wbe1: "verified" },
      ["Ed25519Activated"],
      ["wb1", "wbe1"],
    ],
    [
      "signs with the old one until DNS shows the new",
      rotated,
      { wb1: "verified", wbe1: "verified", wbe2: "missing" },
      [],
      ["wb1", "wbe1"],
    ],
    [
      "signs with the new one once DNS shows it",
      rotated,
      { wb1: "verified", wbe1: "verified", wbe2: "verified" },
      ["Ed25519Activated"],
      ["wb1", "wbe2"],
    ],
    [
      "also where the old one went at once",
      rotated,
      { wb1: "verified", wbe1: "missing", wbe2: "verified" },
      ["Ed25519Activated"],
      ["wb1", "wbe2"],
    ],
    [
      "signs with none where the old one went and no new one came",
      rotated,
      { wb1: "verified", wbe1: "missing", wbe2: "missing" },
      ["Ed25519Suspended"],
      ["wb1"],
    ],
  ])("%s", ([, history, found, consequences, keys]) => {
    const looked = look(after(5 * HOUR), found)
    given(Domain, ...history())
      .when(looked)
      .appendsOnly("DomainChecked", ...consequences)
    assert.deepStrictEqual(signing(happened(Domain, history(), looked)), keys)
  })

  it("signs again when its record is back, or the one that was to follow it", () => {
    const gone = happened(Domain, rotated(), look(after(4 * HOUR), { wb1: "verified", wbe1: "missing" }))
    for (const selector of ["wbe1", "wbe2"]) {
      const back = happened(Domain, gone, look(after(5 * HOUR), { wb1: "verified", [selector]: "verified" }))
      assert.deepStrictEqual(signing(back), ["wb1", selector])
    }
  })

  it("is replaced at once where it does not sign", () => {
    const replaced = happened(Domain, added(), Domain.rotateEd25519(after(2 * HOUR), dkimKey("wbe2")))
    assert.deepStrictEqual(published(replaced), ["wb1", "wbe2"])
    assert.deepStrictEqual(published(rotated()), ["wb1", "wbe1", "wbe2"])
  })

  it("rotates by itself, and lets the other do so", () => {
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

  it("is looked for hourly while it waits or just went, and daily once it signs", () => {
    const missing = happened(Domain, added(), look(after(2 * HOUR), { wb1: "verified", wbe1: "missing" }))
    assert.strictEqual(folded(missing).next_check_at, after(3 * HOUR))
    assert.strictEqual(DomainSchedule.next({ ...folded(missing), checks: 72 }, NOW), after(DAY))
    assert.strictEqual(folded(both()).next_check_at, after(2 * HOUR + DAY))
    const old = happened(
      Domain,
      both(),
      ...Array.from({ length: 80 }, (_, n) => look(after((n + 1) * DAY), { wb1: "verified", wbe1: "verified" })),
    )
    const gone = happened(Domain, old, look(after(81 * DAY), { wb1: "verified", wbe1: "missing" }))
    assert.strictEqual(folded(gone).next_check_at, after(81 * DAY + HOUR))
    const waits = happened(Domain, rotated(), look(after(4 * HOUR), { wb1: "verified", wbe1: "verified" }))
    assert.strictEqual(folded(waits).next_check_at, after(5 * HOUR))
  })

  it("of a reserved name signs from the next look on", () => {
    const reserved = happened(Domain, [], add("acme.test", true), Domain.addEd25519(after(HOUR), dkimKey("wbe1")))
    const looked = given(Domain, ...reserved).when(Domain.verifyReserved(after(2 * HOUR)))
    looked.appendsOnly("DomainChecked", "Ed25519Activated")
    const known = happened(Domain, reserved, Domain.verifyReserved(after(2 * HOUR)))
    given(Domain, ...known)
      .when(Domain.verifyReserved(after(2 * HOUR + DAY)))
      .appendsOnly("DomainChecked")
    const next = happened(Domain, known, Domain.rotateEd25519(after(3 * HOUR), dkimKey("wbe2")))
    assert.deepStrictEqual(signing(happened(Domain, next, Domain.verifyReserved(after(4 * HOUR)))), ["wb1", "wbe2"])
  })

  it("of a domain that is gone is refused, and goes with it", () => {
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

  /** What is done, or what DNS says at the next look. */
  const Step = Schema.Union([
    Schema.Literals(["add", "rotate", "remove", "rotate the RSA key"]),
    Schema.Struct({ rsa: DnsFinding.Status, ed25519: DnsFinding.Status, next: DnsFinding.Status }),
  ])

  it.prop(
    "moves neither the domain nor its RSA key, whatever becomes of it",
    { steps: Arbitrary.array(Arbitrary.schema(Step), { maxLength: 20 }) },
    ({ steps }) => {
      let one = verified()
      let other = verified()
      for (const [n, step] of steps.entries()) {
        const at = after((n + 1) * DAY)
        const fresh = Domain.nextSelector(folded(one), step === "rotate the RSA key" ? "rsa" : "ed25519")
        const verdict = decisionOf(step, at, folded(one), fresh)(folded(one))
        if (Result.isSuccess(verdict)) one = one.concat(verdict.success)
        if (typeof step !== "string" || step === "rotate the RSA key")
          other = happened(Domain, other, decisionOf(step, at, folded(other), fresh))
      }
      const apart = ({ checks, ed25519, next_check_at, records, ...rest }: Domain.Domain) => rest
      assert.deepStrictEqual(apart(folded(one)), apart(folded(other)))
      assert.strictEqual(signing(one)[0], folded(other).dkim.selector)
      const selectors = one.flatMap((event) => ("dkim" in event ? [event.dkim.selector] : []))
      assert.strictEqual(new Set(selectors).size, selectors.length)
    },
  )

  const decisionOf = (
    step: typeof Step.Type,
    at: Timestamp.Timestamp,
    domain: Domain.Domain,
    fresh: string,
  ): Aggregate.Decide<Domain.State, Domain.Event, Refusal> => {
    switch (step) {
      case "add":
        return Domain.addEd25519(at, dkimKey(fresh))
      case "rotate":
        return Domain.rotateEd25519(at, dkimKey(fresh))
      case "remove":
        return Domain.removeEd25519(at)
      case "rotate the RSA key":
        return Domain.rotateDkim(at, dkimKey(fresh))
      default: {
        const { dkim, ed25519 } = domain
        const statusOf = (key: DkimKey) => (key === dkim ? step.rsa : key === ed25519?.dkim ? step.ed25519 : step.next)
        return look(at, Object.fromEntries(Domain.publishedKeys(domain).map((key) => [key.selector, statusOf(key)])))
      }
    }
  }
})
