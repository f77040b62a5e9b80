import * as Timestamp from "@waybill/domain/values/Timestamp"
import { Arbitrary, Result, Schema } from "effect"
import { assert, describe, it } from "../../support/effectTest.ts"

const read = (text: string) => Result.merge(Timestamp.parse(text))
const of = (text: string) => Timestamp.Timestamp.make(text)

describe("time", () => {
  it.for([
    ["2026-11-21T09:30:00Z", "2026-11-21T09:30:00.000Z"],
    ["2026-11-21T09:30Z", "2026-11-21T09:30:00.000Z"],
    ["2026-11-21t09:30:00z", "2026-11-21T09:30:00.000Z"],
    ["2026-11-21T09:30:00.5Z", "2026-11-21T09:30:00.500Z"],
    ["2026-11-21T09:30:00,123456789Z", "2026-11-21T09:30:00.123Z"],
    ["2026-11-21T09:30:00+02:00", "2026-11-21T07:30:00.000Z"],
    ["2026-11-21T09:30:00-0530", "2026-11-21T15:00:00.000Z"],
    ["2026-12-31T23:59:59.999-00:01", "2027-01-01T00:00:59.999Z"],
    ["2028-02-29T00:00:00Z", "2028-02-29T00:00:00.000Z"],
    ["2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z"],
  ])("%s is read as %s", ([text, at]) => assert.strictEqual(read(text ?? ""), at))

  it.for([
    "2026-11-21T09:30:00",
    "2026-11-21",
    "tomorrow",
    "",
    "Sat, 21 Nov 2026 09:30:00 GMT",
    "1763717400",
    "2026-11-21 09:30:00Z",
    "26-11-21T09:30:00Z",
    "2026-11-21T09:30:00+2",
    " 2026-11-21T09:30:00Z",
  ])("a time without an offset, or not in ISO 8601, is refused: %j", (text) =>
    assert.match(read(text), /^must be an ISO 8601 time/u),
  )

  it.for([
    "2026-02-29T00:00:00Z",
    "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:60:00Z",
    "2026-01-01T00:00:60Z",
    "2026-01-01T00:00:00+24:00",
    "2026-01-01T00:00:00+01:60",
  ])("a time that does not exist is refused: %s", (text) => assert.match(read(text), /does not exist/u))

  it.prop(
    "times order as text like as numbers",
    { a: Timestamp.Timestamp, b: Timestamp.Timestamp },
    ({ a, b }) => Math.sign(Timestamp.toMillis(a) - Timestamp.toMillis(b)) === (a < b ? -1 : a > b ? 1 : 0),
    { arbitrary: { runs: 1000 } },
  )

  it.for(["2026-02-29", "1900-02-29", "2026-04-31", "2026-00-10", "2026-1-01"])(
    "an event cannot have the date %s",
    (day) => assert.isFalse(Schema.is(Timestamp.Timestamp)(`${day}T00:00:00.000Z`)),
  )
  it.for(["2028-02-29", "2000-02-29", "2026-12-31"])("an event can have the date %s", (day) =>
    assert.isTrue(Schema.is(Timestamp.Timestamp)(`${day}T00:00:00.000Z`)),
  )

  const millis = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 253_402_300_799_999 }))
  it.prop(
    "a time converts to milliseconds and back",
    { millis },
    ({ millis }) => Timestamp.toMillis(Timestamp.fromMillis(millis)) === millis,
  )

  it.prop(
    "the day after some days is that of the time after as much",
    {
      at: Timestamp.Timestamp,
      days: Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: -3, maximum: 400 }))),
    },
    ({ at, days }) => {
      for (const each of [days, 0, 30, days]) {
        const expected = Timestamp.plus(at, each * Timestamp.DAY).slice(0, 10)
        assert.strictEqual(Timestamp.dayAfter(at, each), expected)
        const midnight = `${at.slice(0, 10)}T00:00:00.000Z` as Timestamp.Timestamp
        assert.strictEqual(Timestamp.dayAfter(midnight, each), expected)
      }
    },
  )

  it("a time stays within four digits of a year", () => {
    assert.strictEqual(Timestamp.fromMillis(Number.MAX_SAFE_INTEGER), "9999-12-31T23:59:59.999Z")
    assert.strictEqual(Timestamp.fromMillis(-Number.MAX_SAFE_INTEGER), "0001-01-01T00:00:00.000Z")
  })
  it("the year 0, which Postgres does not have, is not a time", () => {
    assert.strictEqual(Schema.decodeUnknownSync(Timestamp.FromIso)("0000-02-29T12:00:00Z"), "0001-01-01T00:00:00.000Z")
  })
  it("a time is parsed with any offset and written with Z", () => {
    assert.strictEqual(
      Schema.decodeUnknownSync(Timestamp.FromIso)("2026-11-21T09:30:00+02:00"),
      "2026-11-21T07:30:00.000Z",
    )
    assert.throws(() => Schema.decodeUnknownSync(Timestamp.FromIso)("now"), /must be an ISO 8601 time/u)
  })
})

describe("month", () => {
  it("a month starts at its first instant in UTC", () => {
    assert.strictEqual(Timestamp.nextMonth(of("2026-11-30T23:59:59.999Z")), "2026-12-01T00:00:00.000Z")
    assert.strictEqual(Timestamp.nextMonth(of("2026-12-01T00:00:00.000Z")), "2027-01-01T00:00:00.000Z")
  })
  it("the wait for the next month is in whole seconds, at least one", () => {
    const end = of("2026-12-01T00:00:00.000Z")
    assert.strictEqual(Timestamp.secondsUntil(of("2026-11-30T23:59:59.999Z"), end), 1)
    assert.strictEqual(Timestamp.secondsUntil(of("2026-11-30T23:59:58.999Z"), end), 2)
    assert.strictEqual(Timestamp.secondsUntil(end, end), 1)
  })
})

describe("calendar limits", () => {
  const isRead = (text: string) => Result.isSuccess(Timestamp.parse(text))
  it("each month has its own number of days", () => {
    for (const [i, days] of [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].entries()) {
      const month = String(i + 1).padStart(2, "0")
      const read = ["00", "01", String(days), String(days + 1)].map((day) => isRead(`2028-${month}-${day}T00:00:00Z`))
      assert.deepStrictEqual(read, [false, true, true, false], month)
    }
    for (const month of ["00", "13"]) assert.isFalse(isRead(`2028-${month}-01T00:00:00Z`), month)
  })
  it("hours, minutes and offsets have their limits", () => {
    for (const text of ["23:59:59Z", "00:00:00Z", "00:00:00+23:59", "00:00:00-23:59"])
      assert.isTrue(isRead(`2026-11-21T${text}`), text)
    for (const text of ["24:00:00Z", "00:60:00Z", "00:00:60Z", "00:00:00+24:00", "00:00:00+00:60"])
      assert.isFalse(isRead(`2026-11-21T${text}`), text)
  })
})
