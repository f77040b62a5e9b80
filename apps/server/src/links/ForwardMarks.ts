import type * as Address from "@waybill/domain/values/Address"
import * as ForwardMark from "@waybill/mail/tokens/ForwardMark"
import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import { Effect } from "effect"

/** Derives the keys of the marks of forwarded mail. The first one makes them, all of them verify. */
const markKeys = Effect.map(InstanceKey, (keyring) => keyring.derive("forward"))

/** Makes the headers that a mail forwarded from these addresses has, by which it is known when it comes back. */
export type MarksOf = (recipients: ReadonlyArray<string>) => ReadonlyArray<readonly [name: string, value: string]>

export const marksOf = Effect.map(
  markKeys,
  ([key = new Uint8Array()]): MarksOf =>
    (recipients) =>
      recipients.map((address) => [ForwardMark.HEADER, ForwardMark.make(key, address)]),
)

/** Returns a test of whether a mail with these marks was forwarded from an address before. */
export const hasPassed = (marks: ReadonlyArray<string>) =>
  marks.length === 0
    ? Effect.succeed((_: Address.Address): boolean => false)
    : Effect.map(
        markKeys,
        (keys) =>
          (address: Address.Address): boolean =>
            ForwardMark.has(keys, address, marks),
      )
