import type { EmailId } from "@waybill/domain/values/Id"
import * as Timestamp from "@waybill/domain/values/Timestamp"
import * as AttachmentLink from "@waybill/mail/tokens/AttachmentLink"
import { InstanceKey } from "@waybill/store/secrets/InstanceKey"
import { Clock, Duration, Effect } from "effect"
import { Instance } from "../settings/Instance.ts"
import * as HostNames from "../process/HostNames.ts"

/** How long a link to an attachment works. */
export const ATTACHMENT_LINK_LIFETIME = Duration.hours(1)

/** Derives the keys of these links. The first one signs, all of them verify. */
export const attachmentKeys = Effect.map(InstanceKey, (keyring) => keyring.derive("attachment"))

/**
 * Returns the links to an email's attachments and the time at which they expire. Without BASE_URL they lead to the
 * host that the client asked, or are paths if that is no host.
 */
export const linksOf = Effect.fnUntraced(function* (email_id: EmailId, host: string | undefined) {
  const [key = new Uint8Array()] = yield* attachmentKeys
  const { baseUrl } = yield* Instance
  const asked = host !== undefined && HostNames.isHost(host) ? `http://${host}` : ""
  const base = (baseUrl ?? asked).replace(/\/+$/u, "")
  const expires_ms = (yield* Clock.currentTimeMillis) + Duration.toMillis(ATTACHMENT_LINK_LIFETIME)
  return {
    expires_at: Timestamp.fromMillis(expires_ms),
    urlOf: (nth: number) => `${base}${AttachmentLink.PATH}${AttachmentLink.token(key, { email_id, nth }, expires_ms)}`,
  }
})
