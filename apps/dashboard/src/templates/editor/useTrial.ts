import { keepPreviousData, useQuery } from "@tanstack/react-query"
import { useEffect, useState } from "react"
import type { RenderedTemplate, TemplateValidation } from "../../api/Records.ts"
import * as Queries from "../../api/Queries.ts"
import * as TemplateQueries from "../content/TemplateQueries.ts"
import * as Form from "../content/Form.ts"
import * as Problems from "../content/Problems.ts"
import * as EndTags from "./EndTags.ts"

/** Pause of the author after which the text is checked and rendered. */
const PAUSE_MS = 300

export interface Trial {
  /** The last rendering without problems. */
  readonly rendered: RenderedTemplate | undefined
  readonly validation: TemplateValidation | undefined
  readonly problems: ReadonlyArray<Problems.TextProblem>
  /** Faults that the author may have overlooked. */
  readonly warnings: ReadonlyArray<Problems.TextProblem>
  /** Whether the preview shows the text as it is now. */
  readonly isCurrent: boolean
}

interface Options {
  /** Whether texts are typed here, and not only read. */
  readonly canWrite: boolean
  /** The version that is sent. */
  readonly sent: number | null
  readonly isLayout: boolean
  readonly isPartial: boolean
  readonly locale: string | null
  readonly sample: string | undefined
}

interface Tried {
  readonly validation?: TemplateValidation
  readonly rendered?: RenderedTemplate
  readonly problems: ReadonlyArray<Problems.TextProblem>
}

/** Values that the author has typed; `undefined` takes those of the schema. Not JSON, or no object, is told. */
const valuesIn = (sample: string | undefined, validation: TemplateValidation): Readonly<Record<string, unknown>> => {
  if (sample === undefined) return validation.sample
  const values = JSON.parse(sample) as unknown
  if (typeof values !== "object" || values === null || Array.isArray(values)) throw new SyntaxError("no object")
  return values as Readonly<Record<string, unknown>>
}

/** A layout has no words of a template to stand around, so the preview has others in their place. */
const CONTENT = "The words of a template stand here."

const attempt = async (
  id: string,
  form: Form.Form,
  sample: string | undefined,
  { isLayout, isPartial, locale }: Pick<Options, "isLayout" | "isPartial" | "locale">,
): Promise<Tried> => {
  let validation: TemplateValidation | undefined
  try {
    const draft = Form.toSource(form)
    validation = await TemplateQueries.validate(draft)
    const problems = Problems.of(validation.problems)
    if (problems.some((problem) => Problems.isIn(problem, locale))) return { validation, problems }
    try {
      const values = valuesIn(sample, validation)
      const variables = isLayout && draft.variables === null ? { content: CONTENT, ...values } : values
      // A problem of another language hides nothing of this one.
      const locales = Object.fromEntries(
        Object.entries(draft.locales).filter(([tag]) => problems.length === 0 || Problems.isNeeded(tag, locale)),
      )
      const rendered = await TemplateQueries.render(id, { draft: { ...draft, locales }, variables, locale })
      // A partial may end what another one begins.
      const ends = isPartial ? [] : EndTags.inMail(rendered.html)
      return { validation, rendered: { ...rendered, warnings: [...rendered.warnings, ...ends] }, problems }
    } catch (error) {
      if (Queries.isPassing(error)) throw error
      return { validation, problems: [...problems, ...Problems.inSample(error)] }
    }
  } catch (error) {
    const problems = Problems.inError(error)
    if (problems.length === 0 || Queries.isPassing(error)) throw error
    return { problems }
  }
}

/** Renders what is stored, for somebody who only reads: what is sent, or else the draft. */
const attemptStored = async (id: string, version: number | null, locale: string | null): Promise<Tried> => {
  try {
    return { rendered: await TemplateQueries.render(id, { version, locale }), problems: [] }
  } catch (error) {
    if (Queries.isPassing(error)) throw error
    return { problems: Problems.inError(error) }
  }
}

/** Checks and renders a text as it is typed, without storing it. */
export const useTrial = (id: string, form: Form.Form, options: Options): Trial => {
  const { canWrite, isLayout, isPartial, locale, sample, sent } = options
  const key = JSON.stringify([form, sample ?? null, locale])
  const [tried, setTried] = useState(key)
  useEffect(() => {
    if (tried === key) return undefined
    const timer = setTimeout(() => setTried(key), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [tried, key])
  const query = useQuery({
    queryKey: ["template-trial", id, tried, canWrite, sent],
    gcTime: 0,
    refetchOnWindowFocus: false,
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
    queryFn: () => {
      const [typed, typedSample, chosen] = JSON.parse(tried) as [Form.Form, string | null, string | null]
      if (!canWrite) return attemptStored(id, sent, chosen)
      return attempt(id, typed, typedSample ?? undefined, { isLayout, isPartial, locale: chosen })
    },
  })
  const [rendered, setRendered] = useState<RenderedTemplate>()
  const newest = query.data?.rendered
  useEffect(() => {
    if (newest !== undefined) setRendered(newest)
  }, [newest])
  return {
    rendered: newest ?? rendered,
    validation: query.data?.validation,
    warnings: [
      ...Problems.of(query.data?.validation?.warnings ?? []),
      // A partial may end what another one begins.
      ...(isPartial ? [] : EndTags.inForm(form)),
    ],
    problems: query.data?.problems ?? Problems.inError(query.error),
    isCurrent: tried === key && !query.isFetching && newest !== undefined,
  }
}
