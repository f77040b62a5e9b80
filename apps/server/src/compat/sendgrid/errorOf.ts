import * as Table from "@waybill/domain/values/Table"
import type { Refusal } from "@waybill/domain/values/Refusal"
import type { Answer } from "../Door.ts"
import * as Native from "../Native.ts"

/** Returns errors as SendGrid answers them: one for each field at fault, in its spelling of a path, `to.0.email`. */
export const errorOf = (refusal: Refusal): Answer => {
  const { details = [], message, reason, status } = refusal
  const listed = details.length > 0 && reason === "validation_failed"
  const errors = listed
    ? details.map((detail) => ({
        message: detail.path === "" ? `The body ${detail.message}.` : `${dotted(detail.path)} ${detail.message}.`,
        field: fieldOf(detail.path),
        help: null,
      }))
    : [{ message, field: fieldOf(details[0]?.path ?? ""), help: null }]
  const more = listed ? Native.violationsBeyond(details.length, refusal) : 0
  const others = more > 0 ? [{ message: `There are ${more} more errors.`, field: null, help: null }] : []
  const body = { errors: [...distinct(errors), ...others] }
  return { status: Table.at(STATUSES, reason) ?? (status === 422 ? 400 : status), body }
}

const STATUSES: Readonly<Record<string, number>> = { domain_not_verified: 403, payload_too_large: 413 }

const dotted = (path: string): string => path.replaceAll(/\[(\d+)\]/gu, ".$1").replace(/^\./u, "")

const fieldOf = (path: string): string | null => (path === "" ? null : dotted(path))

/** A fault of a field that all personalizations share is found in each of their emails. */
const distinct = <A extends { readonly message: string }>(errors: ReadonlyArray<A>): ReadonlyArray<A> => [
  ...new Map(errors.map((each) => [each.message, each])).values(),
]
