import { type FileName, FILES, type LocalTemplate, NO_WORDS } from "./services/LocalTemplate.ts"
import * as Postmark from "./services/Postmark.ts"
import * as Resend from "./services/Resend.ts"
import * as Sendgrid from "./services/Sendgrid.ts"
import type { Json, ServiceTemplate } from "./services/ServiceTemplate.ts"

interface Service {
  readonly title: string
  readonly api: { readonly url: string; readonly key: string }
  readonly read: (url: string, key: string) => Promise<ReadonlyArray<Json>>
  readonly templateOf: (json: Json) => ServiceTemplate
  readonly language: NonNullable<LocalTemplate["language"]>
}

export const SERVICES = {
  resend: {
    title: "Resend",
    api: Resend.API,
    read: Resend.read,
    templateOf: Resend.templateOf,
    language: "resend",
  },
  postmark: {
    title: "Postmark",
    api: Postmark.API,
    read: Postmark.read,
    templateOf: Postmark.templateOf,
    language: "mustachio",
  },
  sendgrid: {
    title: "SendGrid",
    api: Sendgrid.API,
    read: Sendgrid.read,
    templateOf: Sendgrid.templateOf,
    language: "handlebars",
  },
} satisfies Record<string, Service>
export type ServiceName = keyof typeof SERVICES

/** A template in Liquid, and what could not be said in it. */
export interface ImportedTemplate {
  readonly template: LocalTemplate
  readonly problems: ReadonlyArray<string>
  /** Whether the service takes it as a draft: its Liquid has no errors. */
  readonly isValid: boolean
}

/** Translates templates. One that is not translated as a whole stays a draft. */
export const importTemplates = async (
  name: ServiceName,
  exported: ReadonlyArray<Json>,
): Promise<ReadonlyArray<ImportedTemplate>> => {
  const service: Service = SERVICES[name]
  const templates = exported.map(service.templateOf)
  const aliases = aliasesOf(templates)
  const Inspection = await import("@waybill/templates/version/Inspection")
  const Translation = await import("@waybill/templates/translate/Translation")
  return templates.map((template, nth) => {
    const alias = aliases[nth] ?? ""
    const tooLarge = FILES.filter((part) => isTooLarge(template[part]))
    const sourceOf = (part: FileName) => (tooLarge.includes(part) ? null : template[part])
    const local: LocalTemplate = {
      ...NO_WORDS,
      alias,
      kind: template.kind,
      name: template.name.replaceAll(/[\r\n]+/gu, " ").slice(0, MAX_NAME_CHARS),
      description: `Imported from ${service.title}${template.id === "" ? "" : ` (${template.id})`}`,
      subject: sourceOf("subject"),
      html: sourceOf("html"),
      text: sourceOf("text"),
      preheader: template.preheader,
      from: template.from,
      reply_to: template.reply_to,
      layout:
        template.layout === null ? null : (layoutOf(templates, aliases, template.layout) ?? slugOf(template.layout)),
      locales: {},
      variables: template.variables,
      publish: true,
    }
    const source = { ...local, language: service.language, variables: local.variables as never }
    const { html, subject, text } = Translation.inLiquid(source)
    const translated = { ...local, html, subject, text }
    const errors = Inspection.problemsOf({ ...translated, variables: local.variables as never })
    const problems = [
      ...tooLarge.map((part) => `${part}: is larger than a part can be`),
      ...[...Translation.problemsOf(source), ...errors].map(({ message, path }) => `${path}: ${message}`),
    ]
    return { template: { ...translated, publish: problems.length === 0 }, problems, isValid: errors.length === 0 }
  })
}

/** Characters and tags of a part. The service takes no more, and translating takes time for each. */
const MAX_PART_CHARS = 256 * 1024
const MAX_TAGS = 2_000
const isTooLarge = (source: string | null): boolean =>
  source !== null && (source.length > MAX_PART_CHARS || source.split("{{").length > MAX_TAGS)
const MAX_NAME_CHARS = 200
const MAX_ALIAS_CHARS = 60

/** Returns a name of a template as an alias. */
const slugOf = (name: string): string => {
  const slug = name
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/gu, "")
    .replaceAll(/[^\w.-]+/gu, "-")
    .replaceAll(/^[-.]+|[-.]+$/gu, "")
    .slice(0, MAX_ALIAS_CHARS)
  const isAlias = /^(?!tpl_)[A-Za-z]/u.test(slug)
  return isAlias ? slug : `template-${slug}`.slice(0, MAX_ALIAS_CHARS).replaceAll(/-+$/gu, "")
}

/** Aliases differ, also where case does not count. */
const aliasesOf = (templates: ReadonlyArray<ServiceTemplate>): ReadonlyArray<string> => {
  const taken = new Set<string>()
  return templates.map(({ alias, name }) => {
    const wanted = slugOf(alias ?? name.toLowerCase())
    let free = wanted
    for (let nth = 2; taken.has(free.toLowerCase()); nth++) free = `${wanted}-${nth}`
    taken.add(free.toLowerCase())
    return free
  })
}

const layoutOf = (
  templates: ReadonlyArray<ServiceTemplate>,
  aliases: ReadonlyArray<string>,
  layout: string,
): string | undefined => aliases[templates.findIndex(({ alias, kind }) => kind === "layout" && alias === layout)]
