import { Effect, Schema, SchemaIssue, SchemaTransformation } from "effect"
import * as Excess from "../../errors/Excess.ts"
import * as Counts from "../../errors/Counts.ts"
import { EmailMessage } from "../EmailMessage.ts"
import { TemplatedMessage } from "./TemplatedMessage.ts"

/** A message with its body, or one that is made of a template. */
export type Sendable = EmailMessage | TemplatedMessage

export const isTemplated = (message: Sendable): message is TemplatedMessage => "template" in message

const decodeMessage = Schema.decodeUnknownEffect(EmailMessage)
const decodeTemplated = Schema.decodeUnknownEffect(TemplatedMessage)

const namesTemplate = (json: unknown): boolean =>
  typeof json === "object" && json !== null && "template" in json && json.template !== null

/** `null` is the same as absent. */
const withoutNull = (json: unknown): unknown => {
  if (typeof json !== "object" || json === null || !("template" in json)) return json
  const { template: _, ...message } = json
  return message
}

/** A body that was parsed as JSON. `Schema.Unknown` would look through all of it. */
const Parsed = Schema.declare((_json): _json is unknown => true, { toCodecJson: () => undefined })

/** A message that was decoded as one of both. A union of their schemas would check all of it again. */
const Decoded = Schema.declare((_message): _message is Sendable => true, { toCodecJson: () => undefined })

/** Chosen by whether a template is named, so that an error is about the fields of one of them. */
export const Sendable = Parsed.annotate(Counts.shape(TemplatedMessage.ast))
  .pipe(
    Schema.decodeTo(
      Decoded,
      SchemaTransformation.transformEffect<Sendable, unknown>({
        decode: (json, options) =>
          // A decoder that explains refusals has looked for this, and tells it by its places.
          options.errors !== "all" && Excess.bound(TemplatedMessage, json).isExceeded
            ? Effect.fail(new SchemaIssue.InvalidValue({ message: "has too many items, or an unknown field" }))
            : namesTemplate(json)
              ? Effect.mapError(decodeTemplated(json, options), ({ issue }) => issue)
              : Effect.mapError(decodeMessage(withoutNull(json), options), ({ issue }) => issue),
        encode: (message) =>
          isTemplated(message)
            ? Effect.mapError(Schema.encodeEffect(TemplatedMessage)(message), ({ issue }) => issue)
            : Effect.mapError(Schema.encodeEffect(EmailMessage)(message), ({ issue }) => issue),
      }),
    ),
  )
  .annotate(Excess.CHECKED)
