import * as Refusal from "@waybill/domain/values/Refusal"
import * as Words from "../../webhookFormats/PostmarkWords.ts"

export class TooManyMessages extends Refusal.of("TooManyMessages", 400, "too_many_messages")<{
  readonly most: number
}> {
  override readonly message = `A batch has at most ${this.most} messages. Send the others in further batches.`
}

export class BounceNotFound extends Refusal.of("BounceNotFound", 404, "bounce_not_found") {
  override readonly message = "No bounce with this ID exists in this account."
}

export class StreamNotFound extends Refusal.of("StreamNotFound", 404, "stream_not_found")<{
  readonly stream: string
}> {
  override readonly message = `Waybill has no message streams. The only one that can be named is \`${Words.STREAM}\`, not \`${this.stream}\`.`
}

export class NotWaiting extends Refusal.of("NotWaiting", 422, "inbound_not_blocked") {
  override readonly message =
    "This message does not wait to be let through: what a rule blocks is refused while its server waits."
}
