import { Schema } from "effect"
import * as Timestamp from "../values/Timestamp.ts"
import * as TestClockLimits from "./TestClockLimits.ts"

export class TestClockNotFound extends Schema.TaggedError<TestClockNotFound>()("TestClockNotFound", {}) {
  readonly status = 404
  readonly reason = "test_clock_not_found"
  override get message() {
    return "No test clock with this id exists in this account."
  }
}

export class TestClockDeleted extends Schema.TaggedError<TestClockDeleted>()("TestClockDeleted", {
  deleted_at: Timestamp.Timestamp,
}) {
  readonly status = 404
  readonly reason = "test_clock_deleted"
  override get message() {
    return `This test clock was deleted at ${this.deleted_at}. Create another one.`
  }
}

export class TestClockAdvancing extends Schema.TaggedError<TestClockAdvancing>()("TestClockAdvancing", {
  to: Timestamp.Timestamp,
}) {
  readonly status = 422
  readonly reason = "test_clock_advancing"
  override get message() {
    return `This test clock is being advanced to ${this.to}. Wait until its status is \`ready\`.`
  }
}

export class TestClockMovedBack extends Schema.TaggedError<TestClockMovedBack>()("TestClockMovedBack", {
  now: Timestamp.Timestamp,
  to: Timestamp.Timestamp,
}) {
  readonly status = 422
  readonly reason = "test_clock_moved_back"
  override get message() {
    return `A test clock only moves forward: it shows ${this.now}, which is after ${this.to}.`
  }
}

/** An advance beyond the limit of one request. */
export class AdvanceTooFar extends Schema.TaggedError<AdvanceTooFar>()("AdvanceTooFar", {
  to: Timestamp.Timestamp,
  latest: Timestamp.Timestamp,
}) {
  readonly status = 422
  readonly reason = "advance_too_far"
  override get message() {
    return `One request advances a test clock by at most ${TestClockLimits.MAX_ADVANCE_DAYS} days: to ${this.latest}, not ${this.to}.`
  }
}

/** A time that no test clock may show. */
export class TestClockOutOfRange extends Schema.TaggedError<TestClockOutOfRange>()("TestClockOutOfRange", {
  now: Timestamp.Timestamp,
}) {
  readonly status = 422
  readonly reason = "test_clock_out_of_range"
  override get message() {
    return `A test clock shows a time from ${TestClockLimits.EARLIEST} to ${TestClockLimits.LATEST}; ${this.now} is outside.`
  }
}

export class TooManyTestClocks extends Schema.TaggedError<TooManyTestClocks>()("TooManyTestClocks", {}) {
  readonly status = 422
  readonly reason = "too_many_test_clocks"
  override get message() {
    return `An account has at most ${TestClockLimits.MAX_CLOCKS} test clocks. Delete one first.`
  }
}
