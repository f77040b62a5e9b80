import type { AccountId, EmailId } from "@waybill/domain/values/Id"
import { Option } from "effect"
import { timingSafeEqual } from "node:crypto"
import * as Mac from "./Mac.ts"
import type { OwnedMail } from "./MailToken.ts"
import * as TrackedLink from "../compose/TrackedLink.ts"

/** Paths of the tracking pixel and of tracked links. */
export const OPEN_PATH = "/t/o/"
export const CLICK_PATH = "/t/c/"

/** 128 bits: a valid token redirects anywhere on the web under the service's name. */
const TAG_BYTES = 16
const TAG_CHARACTERS = 22
const ID_CHARACTERS = 26
/** Two ids, a tag, and an address in base64. */
export const MAX_TOKEN_CHARS = 2 * ID_CHARACTERS + TAG_CHARACTERS + Math.ceil(TrackedLink.MAX_TRACKED_URL_CHARS / 3) * 4

const PURPOSES = { open: "waybill open 1\0", click: "waybill click 1\0" } as const
const ID = `[0-7][${Mac.ALPHABET}]{${ID_CHARACTERS - 1}}`
const TOKEN = new RegExp(`^(${ID})(${ID})([\\w-]{${TAG_CHARACTERS}})([\\w-]*)$`, "u")

export interface Click extends OwnedMail {
  readonly url: string
}

/** The token carries everything, so that a visit needs no look-up. */
export const ofOpen = (secretKey: Uint8Array, mail: OwnedMail): string => make(secretKey, "open", mail, "")

export const ofClick = (secretKey: Uint8Array, { url, ...mail }: Click): string =>
  make(secretKey, "click", mail, Buffer.from(url).toString("base64url"))

/** Returns the mail of a token made under any of these keys; none for a forged one. */
export const verifyOpen = (secretKeys: ReadonlyArray<Uint8Array>, token: string): Option.Option<OwnedMail> => {
  const read = verify(secretKeys, "open", token)
  return read === undefined || read.rest !== "" ? Option.none() : Option.some(read.mail)
}

export const verifyClick = (secretKeys: ReadonlyArray<Uint8Array>, token: string): Option.Option<Click> => {
  const read = verify(secretKeys, "click", token)
  if (read === undefined) return Option.none()
  const url = Buffer.from(read.rest, "base64url").toString()
  return TrackedLink.isTarget(url) ? Option.some({ ...read.mail, url }) : Option.none()
}

type Kind = keyof typeof PURPOSES

const make = (secretKey: Uint8Array, kind: Kind, { account_id, email_id }: OwnedMail, rest: string): string => {
  const ids = `${email_id.slice("msg_".length)}${account_id.slice("acc_".length)}`
  return `${ids}${tagOf(secretKey, kind, ids, rest)}${rest}`
}

const tagOf = (secretKey: Uint8Array, kind: Kind, ids: string, rest: string): string =>
  Mac.sum(secretKey, PURPOSES[kind], `${ids}${rest}`).subarray(0, TAG_BYTES).toString("base64url")

const verify = (secretKeys: ReadonlyArray<Uint8Array>, kind: Kind, token: string) => {
  if (token.length > MAX_TOKEN_CHARS) return undefined
  const [, email = "", account = "", tag = "", rest = ""] = TOKEN.exec(token) ?? []
  if (email === "") return undefined
  const received = Buffer.from(tag, "latin1")
  const isValid = (key: Uint8Array) =>
    timingSafeEqual(received, Buffer.from(tagOf(key, kind, `${email}${account}`, rest), "latin1"))
  return secretKeys.some(isValid)
    ? { mail: { email_id: `msg_${email}` as EmailId, account_id: `acc_${account}` as AccountId }, rest }
    : undefined
}
