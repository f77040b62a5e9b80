import * as RequestRefusal from "@waybill/api/errors/RequestRefusal"
import { CODES, type Refusal, type Status } from "@waybill/domain/values/Refusal"
import { Data, Option, Schema } from "effect"
import { MAX_PASSWORD_CHARS, MIN_PASSWORD_CHARS } from "./Options.ts"

/** A response of /auth that is not 2xx, in the format of API errors. */
export class SignInRefused extends Data.TaggedError("SignInRefused")<{
  readonly status: Status
  readonly reason: string
  readonly message: string
  readonly retry_after_s?: number
}> {
  get code() {
    return CODES[this.status]
  }
}

export const tooManyTries = (retry_after_s: number) =>
  new SignInRefused({
    status: 429,
    reason: "too_many_tries",
    message: `Too many attempts. Try again in ${retry_after_s} s.`,
    retry_after_s,
  })

export const invalidOrigin = (origins: ReadonlyArray<string>) =>
  new SignInRefused({
    status: 403,
    reason: "invalid_origin",
    message:
      `This request comes from a page of another site. Sign in at ${origins.join(" or ")}; ` +
      "if browsers reach the service by another address, set BASE_URL to it.",
  })

/** Status and message for each error code of the sign-in library. */
const MESSAGES: Readonly<Record<string, readonly [status: Status, message: string]>> = {
  INVALID_EMAIL_OR_PASSWORD: [401, "Incorrect email or password."],
  INVALID_EMAIL: [401, "Incorrect email or password."],
  INVALID_PASSWORD: [400, "Incorrect password."],
  CREDENTIAL_ACCOUNT_NOT_FOUND: [400, "Incorrect password."],
  PASSWORD_TOO_SHORT: [400, `A password needs at least ${MIN_PASSWORD_CHARS} characters.`],
  PASSWORD_TOO_LONG: [400, `A password has at most ${MAX_PASSWORD_CHARS} characters.`],
  INVALID_TOKEN: [400, "This link has expired, or a newer one replaced it. Ask an owner of the account for a new one."],
  USED_TOKEN: [400, "This link was already used. Sign in with the password that was set with it."],
  USER_NOT_FOUND: [
    400,
    "This link has expired, or a newer one replaced it. Ask an owner of the account for a new one.",
  ],
  INVALID_CODE: [401, "Incorrect code, or one that was already used. Enter the code that is shown now."],
  INVALID_BACKUP_CODE: [401, "Incorrect backup code, or one that was already used."],
  INVALID_TWO_FACTOR_COOKIE: [401, "This sign-in has expired. Enter your email and password again."],
  TOO_MANY_ATTEMPTS_REQUEST_NEW_CODE: [400, "Too many wrong codes. Enter your email and password again."],
  TOO_MANY_TRIES: [429, "Too many attempts. Try again in a minute."],
  ACCOUNT_TEMPORARILY_LOCKED: [429, "Too many wrong codes. Codes are accepted again in 15 minutes."],
  TOTP_ALREADY_ENABLED: [400, "An authenticator is already set up. Remove it first."],
  TOTP_NOT_ENABLED: [400, "No authenticator is set up."],
  TWO_FACTOR_NOT_ENABLED: [400, "No authenticator is set up."],
  BACKUP_CODES_NOT_ENABLED: [400, "No authenticator is set up."],
  SESSION_EXPIRED: [403, "Sign in again to do this: your last sign-in was more than an hour ago."],
  SESSION_NOT_FRESH: [403, "Sign in again to do this: your last sign-in was more than an hour ago."],
  FAILED_TO_CREATE_SESSION: [401, "This user does not belong to an account any more."],
  UNABLE_TO_CREATE_SESSION: [401, "This user does not belong to an account any more."],
  CHALLENGE_NOT_FOUND: [400, "This passkey request has expired or was already used. Try again."],
  FAILED_TO_VERIFY_REGISTRATION: [400, "This passkey could not be verified."],
  AUTHENTICATION_FAILED: [401, "This passkey could not be verified."],
  PASSKEY_NOT_FOUND: [401, "This passkey is not registered here."],
  USER_NOT_VERIFIED: [401, "The passkey has to check that it is you, by a PIN, a fingerprint or your face."],
  YOU_ARE_NOT_ALLOWED_TO_REGISTER_THIS_PASSKEY: [401, "This passkey request belongs to another user."],
  PROVIDER_NOT_FOUND: [404, "The identity provider could not be reached. Try again later."],
  INVALID_ORIGIN: [403, "This request comes from a page of another site."],
  MISSING_OR_NULL_ORIGIN: [403, "This request comes from a page of another site."],
  CROSS_SITE_NAVIGATION_LOGIN_BLOCKED: [403, "This request comes from a page of another site."],
}

/** Length of the windows in which attempts are counted. */
const WAIT_SECONDS = 60

const BY_STATUS: Readonly<Record<Status, string>> = {
  400: "The request is not valid.",
  401: "Sign in to do this.",
  403: "This is not allowed.",
  404: "There is nothing here.",
  422: "The request is not valid.",
  429: "Too many attempts. Try again in a minute.",
  500: "",
  503: "The service is busy. Try again in a few seconds.",
}

const decodeBody = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ code: Schema.String })))

/** Translates a response of the library, of which only the code is used, since its message may contain anything. */
export const refusalOf = (status: number, body: string): Refusal => {
  const code = Option.match(decodeBody(body), { onNone: () => "", onSome: ({ code }) => code })
  const translated = Object.hasOwn(MESSAGES, code) ? MESSAGES[code] : undefined
  if (translated !== undefined) {
    const [ownStatus, message] = translated
    const waits = ownStatus === 429 ? { retry_after_s: WAIT_SECONDS } : {}
    return new SignInRefused({ status: ownStatus, reason: code.toLowerCase(), message, ...waits })
  }
  if (status >= 500) return new RequestRefusal.InternalError()
  const plain: Status = status === 401 || status === 403 || status === 404 || status === 429 ? status : 400
  return new SignInRefused({ status: plain, reason: "sign_in_refused", message: BY_STATUS[plain] })
}
