import type { Refusal } from "@waybill/domain/values/Refusal"
import { Data } from "effect"

/** The refusal of a message as one of its batch, naming the message. */
export class RefusedInBatch extends Data.TaggedError("RefusedInBatch")<{
  readonly index: number
  readonly refusal: Refusal
}> {
  readonly status = this.refusal.status
  readonly reason = this.refusal.reason
  readonly retry_after_s = this.refusal.retry_after_s
  override readonly message = `Message ${this.index} of the batch: ${this.refusal.message}`
  readonly details = (this.refusal.details ?? [{ path: "", message: this.refusal.message }]).map((detail) => ({
    ...detail,
    path: RefusedInBatch.pathOf(this.index, detail.path),
  }))

  static readonly pathOf = (index: number, path: string): string =>
    `emails[${index}]${path === "" || path.startsWith("[") ? path : `.${path}`}`
}
