import * as Refusal from "../values/Refusal.ts"
import type * as Timestamp from "../values/Timestamp.ts"
import * as TestClockLimits from "./TestClockLimits.ts"

export class TestClockNotFound extends Refusal.of("TestClockNotFound", 404, "test_clock_not_found") {
  override readonly message = "No test clock with this id exists in this account."
}

export class TestClockDeleted extends Refusal.of("TestClockDeleted", 404, "test_clock_deleted")<{
  readonly deleted_at: Timestamp.Timestamp
}> {
  override readonly message = `This test clock was deleted at ${this.deleted_at}. Create another one.`
}

export class TestClockAdvancing extends Refusal.of("TestClockAdvancing", 422, "test_clock_advancing")<{
  readonly to: Timestamp.Timestamp
}> {
  override readonly message = `This test clock is being advanced to ${this.to}. Wait until its status is \`ready\`.`
}

export class TestClockMovedBack extends Refusal.of("TestClockMovedBack", 422, "test_clock_moved_back")<{
  readonly now: Timestamp.Timestamp
  readonly to: Timestamp.Timestamp
}> {
  override readonly message = `A test clock only moves forward: it shows ${this.now}, which is after ${this.to}.`
}

/** An advance beyond the limit of one request. */
export class AdvanceTooFar extends Refusal.of("AdvanceTooFar", 422, "advance_too_far")<{
  readonly to: Timestamp.Timestamp
  readonly latest: Timestamp.Timestamp
}> {
  override readonly message = `One request advances a test clock by at most ${TestClockLimits.MAX_ADVANCE_DAYS} days: to ${this.latest}, not ${this.to}.`
}

/** A time that no test clock may show. */
export class TestClockOutOfRange extends Refusal.of("TestClockOutOfRange", 422, "test_clock_out_of_range")<{
  readonly now: Timestamp.Timestamp
}> {
  override readonly message = `A test clock shows a time from ${TestClockLimits.EARLIEST} to ${TestClockLimits.LATEST}; ${this.now} is outside.`
}

export class TooManyTestClocks extends Refusal.of("TooManyTestClocks", 422, "too_many_test_clocks") {
  override readonly message = `An account has at most ${TestClockLimits.MAX_CLOCKS} test clocks. Delete one first.`
}
