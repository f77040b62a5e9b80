import * as Address from "@waybill/domain/Address"
import * as Id from "@waybill/domain/Id"
import type * as Message from "@waybill/mail/Message"
import { DateTime, Result } from "effect"

export const AT = DateTime.makeUnsafe("2026-11-21T10:15:20.123Z")
export const ID = Id.make("EmailId", DateTime.toEpochMillis(AT), Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))

export const address = (text: string): Address.Address => Result.getOrThrow(Address.parseAddress(text))

export const message = (fields: Partial<Message.Message> = {}): Message.Message => ({
  id: ID,
  createdAt: AT,
  from: { address: address("hi@acme.test"), name: "Acme" },
  to: [{ address: address("ana@example.org"), name: "Ana" }],
  subject: "Your receipt",
  text: "Thank you.",
  ...fields,
})
