import * as TemplateRequests from "@waybill/api/groups/templates/TemplateRequests"
import { Schema } from "effect"
import * as Fields from "../../lenient/Fields.ts"

const TYPES = ["Standard", "Layout"] as const

const words = {
  Subject: Schema.optional(Schema.String),
  HtmlBody: Schema.optional(Schema.String),
  TextBody: Schema.optional(Schema.String),
  TemplateType: Schema.optional(Schema.Literals(TYPES)),
  LayoutTemplate: Schema.optional(Schema.String),
}

/** Fields of a template's record that nobody changes. The client for Go sends the whole record. */
const unchanged = {
  TemplateId: Schema.optional(Schema.Unknown),
  AssociatedServerId: Schema.optional(Schema.Unknown),
  Active: Schema.optional(Schema.Boolean),
}

export const Creation = Schema.Struct({
  Name: Schema.String,
  Alias: Schema.optional(Schema.String),
  ...words,
  ...unchanged,
})

export const Change = Schema.Struct({ ...Creation.fields, Name: Schema.optional(Schema.String) })
export type Change = typeof Change.Type

export const Validation = Schema.Struct({
  ...words,
  /** Becomes a tag of the source, without our own API between that would check it. */
  LayoutTemplate: Schema.optional(TemplateRequests.Alias),
  TestRenderModel: Schema.optional(Schema.Record(Schema.String, Schema.Json)),
  /** Styles are not moved into elements, here as in mail. */
  InlineCssForHtmlTestRender: Schema.optional(Schema.Boolean),
})

export const Push = Schema.Struct({
  SourceServerID: Fields.Text,
  DestinationServerID: Fields.Text,
  PerformChanges: Schema.optional(Schema.Boolean),
})
