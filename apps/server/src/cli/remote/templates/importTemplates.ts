import { type LocalTemplate, NO_WORDS } from "./LocalTemplate.ts"
import * as Postmark from "./services/Postmark.ts"
import * as Resend from "./services/Resend.ts"
import * as Sendgrid from "./services/Sendgrid.ts"
import type { Json, ServiceTemplate } from "./services/ServiceTemplate.ts"
import { translateHandlebars } from "./translation/translateHandlebars.ts"
import { translateMustachio } from "./translation/translateMustachio.ts"
import { translateResend, type Translation } from "./translation/translateResend.ts"

interface Service {
  readonly title: string
  readonly api: { readonly url: string; readonly key: string }
  readonly read: (url: string, key: string) => Promise<ReadonlyArray<Json>>
  readonly templateOf: (json: Json) => ServiceTemplate
  readonly translate: (source: string) => Translation
}

export const SERVICES = {
  resend: {
    title: "Resend",
    api: Resend.API,
    read: Resend.read,
    templateOf: Resend.templateOf,
    translate: translateResend,
  },
  postmark: {
    title: "Postmark",
    api: Postmark.API,
    read: Postmark.read,
    templateOf: Postmark.templateOf,
    translate: translateMustachio,
  },
  sendgrid: {
    title: "SendGrid",
    api: Sendgrid.API,
    read: Sendgrid.read,
    templateOf: Sendgrid.templateOf,
    translate: translateHandlebars,
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
  return templates.map((template, nth) => {
    const alias = aliases[nth] ?? ""
    const untranslated: Array<string> = []
    const translated = (part: "subject" | "html" | "text"): string | null => {
      const source = template[part]
      if (source === null) return null
      if (source.length > MAX_PART_CHARS || source.split("{{").length > MAX_TAGS) {
        untranslated.push(`${part}: is larger than a part can be`)
        return null
      }
      const { liquid, problems } = service.translate(source)
      untranslated.push(...problems.map(({ line, message }) => `${part}, line ${line}: ${message}`))
      return liquid
    }
    const local: LocalTemplate = {
      ...NO_WORDS,
      alias,
      kind: template.kind,
      name: template.name.replaceAll(/[\r\n]+/gu, " ").slice(0, MAX_NAME_CHARS),
      description: `Imported from ${service.title}${template.id === "" ? "" : ` (${template.id})`}`,
      subject: translated("subject"),
      html: translated("html"),
      text: translated("text"),
      preheader: template.preheader,
      from: template.from,
      reply_to: template.reply_to,
      layout:
        template.layout === null ? null : (layoutOf(templates, aliases, template.layout) ?? slugOf(template.layout)),
      locales: {},
      variables: template.variables,
      publish: true,
    }
    const errors = Inspection.problemsOf({ ...local, variables: local.variables as never })
    const problems = [...untranslated, ...errors.map(({ message, path }) => `${path}: ${message}`)]
    return { template: { ...local, publish: problems.length === 0 }, problems, isValid: errors.length === 0 }
  })
}

/** Characters and tags of a part. The service takes no more, and translating takes time for each. */
const MAX_PART_CHARS = 256 * 1024
const MAX_TAGS = 2_000
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
