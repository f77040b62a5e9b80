import { Data } from "effect"
import * as Words from "../../webhookFormats/PostmarkWords.ts"

export class TooManyMessages extends Data.TaggedError("TooManyMessages")<{ readonly most: number }> {
  readonly status = 400
  readonly reason = "too_many_messages"
  override get message() {
    return `A batch has at most ${this.most} messages. Send the others in further batches.`
  }
}

export class BounceNotFound extends Data.TaggedError("BounceNotFound")<{}> {
  readonly status = 404
  readonly reason = "bounce_not_found"
  override get message() {
    return "No bounce with this ID exists in this account."
  }
}

export class StreamNotFound extends Data.TaggedError("StreamNotFound")<{ readonly stream: string }> {
  readonly status = 404
  readonly reason = "stream_not_found"
  override get message() {
    return `Waybill has no message streams. The only one that can be named is \`${Words.STREAM}\`, not \`${this.stream}\`.`
  }
}

export class NotWaiting extends Data.TaggedError("NotWaiting")<{}> {
  readonly status = 422
  readonly reason = "inbound_not_blocked"
  override get message() {
    return "This message does not wait to be let through: what a rule blocks is refused while its server waits."
  }
}
