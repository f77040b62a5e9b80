import * as Checks from "@waybill/api/schemas/Checks"
import * as Team from "@waybill/domain/account/Team"
import { Schema } from "effect"
import { MAX_PASSWORD_CHARS } from "./Options.ts"

/** Maximum length of tokens of the library and of links; the longest has 32 characters. */
const MAX_TOKEN_CHARS = 128
/** Maximum length of codes. An authenticator's code has 6 digits, a backup code 11 characters. */
const MAX_CODE_CHARS = 32
/** Maximum length of the page to return to after the identity provider. */
const MAX_PAGE_CHARS = 2_048
/** Maximum length of values from an identity provider. */
const MAX_PROVIDER_CHARS = 4_096
/** Maximum length of Base64url fields of a passkey ceremony. */
const MAX_CEREMONY_CHARS = 32 * 1024
const MAX_CREDENTIAL_CHARS = 2_048
const MAX_TRANSPORTS = 10

/** Kinds of attempts. The endpoints of one kind share a limit. */
export type Tries = "sign-in" | "code" | "password" | "link" | "passkey" | "provider"

const text = (maximum: number) => Schema.String.check(Checks.chars(maximum, 1), Checks.oneLine)
const base64url = (maximum: number) =>
  Schema.String.check(Checks.chars(maximum, 1), Schema.isPattern(/^[\w-]+={0,2}$/u, { message: "must be base64url" }))
const password = text(MAX_PASSWORD_CHARS)
const token = text(MAX_TOKEN_CHARS)
const code = text(MAX_CODE_CHARS)
const name = Team.Name
/** Maximum length of an address. It is only compared, so that an error about its form reveals nothing. */
const MAX_EMAIL_CHARS = 320
/** A path of this service. Browsers read `//host`, `/\host` and slash, tab, slash as URLs of other sites. */
const page = text(MAX_PAGE_CHARS).check(
  Schema.isPattern(/^\/(?!\/)[^\\\s\p{Cc}]*$/u, { message: "must be a path of this service" }),
)

const credential = {
  id: base64url(MAX_CREDENTIAL_CHARS),
  rawId: base64url(MAX_CREDENTIAL_CHARS),
  type: Schema.Literal("public-key"),
  authenticatorAttachment: Schema.optionalKey(Schema.NullOr(text(MAX_CODE_CHARS))),
  clientExtensionResults: Schema.optionalKey(Schema.Record(Schema.String, Schema.Json)),
}

const registration = Schema.Struct({
  ...credential,
  response: Schema.Struct({
    clientDataJSON: base64url(MAX_CEREMONY_CHARS),
    attestationObject: base64url(MAX_CEREMONY_CHARS),
    authenticatorData: Schema.optionalKey(base64url(MAX_CEREMONY_CHARS)),
    publicKey: Schema.optionalKey(base64url(MAX_CEREMONY_CHARS)),
    publicKeyAlgorithm: Schema.optionalKey(Schema.Int),
    transports: Schema.optionalKey(
      Schema.Array(text(MAX_CODE_CHARS)).check(Checks.items(0, MAX_TRANSPORTS, "transports")),
    ),
  }),
})

const authentication = Schema.Struct({
  ...credential,
  response: Schema.Struct({
    clientDataJSON: base64url(MAX_CEREMONY_CHARS),
    authenticatorData: base64url(MAX_CEREMONY_CHARS),
    signature: base64url(MAX_CEREMONY_CHARS),
    userHandle: Schema.optionalKey(Schema.NullOr(base64url(MAX_CREDENTIAL_CHARS))),
  }),
})

type Fields = Schema.Codec<unknown, unknown>

export interface Endpoint {
  readonly body?: Fields
  readonly query?: Fields
  /** Kind of attempt that a request counts as, if it could be used to guess. */
  readonly tries?: Tries
  /** Whether unknown query parameters are dropped instead of refused, since another party chooses them. */
  readonly lenient?: true
}

/** Accepts only an object without fields; a struct without fields would accept any value. */
export const NOTHING = Schema.Record(Schema.String, Schema.Never)

/** Path that tells whose password a link sets, and whether it still can. */
export const LINK_OWNER = "/link-owner"

/** Path that sets the password of the user of a link, once. */
export const SET_PASSWORD = "/reset-password"

export const ALWAYS: Readonly<Record<string, Endpoint>> = {
  "GET /get-session": {},
  "POST /sign-in/email": {
    tries: "sign-in",
    body: Schema.Struct({ email: text(MAX_EMAIL_CHARS), password }),
  },
  "POST /two-factor/verify-totp": {
    tries: "code",
    body: Schema.Struct({ code, trustDevice: Schema.optionalKey(Schema.Boolean) }),
  },
  "POST /two-factor/verify-backup-code": { tries: "code", body: Schema.Struct({ code }) },
  "POST /two-factor/enable": { tries: "password", body: Schema.Struct({ password }) },
  "POST /two-factor/disable": { tries: "password", body: Schema.Struct({ password }) },
  "POST /change-password": {
    tries: "password",
    body: Schema.Struct({
      currentPassword: password,
      newPassword: password,
      revokeOtherSessions: Schema.optionalKey(Schema.Boolean),
    }),
  },
  // Answered by this service, not by the library.
  [`POST ${LINK_OWNER}`]: { tries: "link", body: Schema.Struct({ token }) },
  [`POST ${SET_PASSWORD}`]: { tries: "link", body: Schema.Struct({ token, newPassword: password }) },
  "POST /sign-out": { body: NOTHING },
  "POST /update-user": { body: Schema.Struct({ name }) },
  "GET /list-sessions": {},
  "POST /revoke-session": { body: Schema.Struct({ token }) },
  "GET /passkey/list-user-passkeys": {},
  "POST /passkey/delete-passkey": { body: Schema.Struct({ id: token }) },
  "GET /passkey/generate-register-options": { tries: "passkey", query: Schema.Struct({ name }) },
  "POST /passkey/verify-registration": {
    tries: "passkey",
    body: Schema.Struct({ response: registration, name }),
  },
  "GET /passkey/generate-authenticate-options": { tries: "passkey" },
  "POST /passkey/verify-authentication": { tries: "passkey", body: Schema.Struct({ response: authentication }) },
}

const providerValue = Schema.optionalKey(text(MAX_PROVIDER_CHARS))

export const WITH_PROVIDER: Readonly<Record<string, Endpoint>> = {
  "POST /sign-in/social": {
    tries: "provider",
    body: Schema.Struct({
      provider: Schema.Literal("oidc"),
      callbackURL: page,
      errorCallbackURL: Schema.Literal("/sign-in"),
    }),
  },
  "GET /callback/oidc": {
    tries: "provider",
    lenient: true,
    query: Schema.Struct({ code: providerValue, state: providerValue, error: providerValue, iss: providerValue }),
  },
}

/** Returns the endpoint of the library, if it is one that the dashboard uses. No other is reachable. */
export const find = (method: string, path: string, oidc: boolean): Endpoint | undefined => {
  const name = `${method} ${path}`
  if (Object.hasOwn(ALWAYS, name)) return ALWAYS[name]
  return oidc && Object.hasOwn(WITH_PROVIDER, name) ? WITH_PROVIDER[name] : undefined
}
