import { useEffect, useState } from "react"
import type { TemplateRecord } from "../../api/Records.ts"
import { SegmentedControl } from "../../ui/controls/SegmentedControl.tsx"
import { cx } from "../../ui/display/cx.ts"
import { Tabs } from "../../ui/layout/Tabs.tsx"
import * as Completions from "./code/Completions.ts"
import * as Form from "../content/Form.ts"
import { Languages } from "./Languages.tsx"
import { Preview } from "./Preview.tsx"
import * as Problems from "../content/Problems.ts"
import { Settings } from "./Settings.tsx"
import type { Trial } from "./useTrial.ts"
import { Variables } from "./Variables.tsx"
import { CodeField, WordField } from "./WordFields.tsx"
import { Panel } from "../../ui/layout/Screen.tsx"

interface Props {
  readonly record: TemplateRecord
  readonly form: Form.Form
  /** Undefined where nothing may be changed. */
  readonly onForm: ((form: Form.Form) => void) | undefined
  readonly locale: string | null
  readonly onLocale: (locale: string | null) => void
  readonly sample: string | undefined
  readonly onSample: (sample: string | undefined) => void
  readonly trial: Trial
  readonly error: unknown
  readonly tab: string
  /** Shows a part, in a language if it is another one. */
  readonly onTab: (tab: string, locale?: string) => void
}

/** Texts of a template on one side, and what they become on the other. */
export const Workbench = ({
  error,
  form,
  locale,
  onForm,
  onLocale,
  onSample,
  onTab,
  record,
  sample,
  tab,
  trial,
}: Props) => {
  // Two languages side by side need the whole width.
  const isWide = locale !== null
  const columns: ReadonlyArray<string | null> = locale === null ? [null] : [null, locale]
  const { problems, validation, warnings } = trial
  // A text in which a tag is typed right now uses nothing that could be known.
  const [used, setUsed] = useState(validation?.suggested_variables)
  useEffect(() => {
    if (validation?.valid === true) setUsed(validation.suggested_variables)
  }, [validation])
  const variables = Completions.variablesOf(Form.objectIn(form["variables"]), used, record.kind === "layout")
  // Where both do not fit beside each other, one of them is shown.
  const [shown, setShown] = useState<"edit" | "preview">("edit")
  const [target, setTarget] = useState<Problems.TextProblem>()
  const setText =
    onForm === undefined
      ? undefined
      : (name: string, text: string) => {
          setTarget(undefined)
          onForm({ ...form, [name]: text })
        }
  const open = (problem: Problems.TextProblem) => {
    setShown("edit")
    const [, tag, word] = /^(?:locales\.([^.]+)\.)?([^.]+)/u.exec(problem.path) ?? []
    if (word === "subject") {
      if (tag !== undefined) onLocale(tag)
      return document.querySelector<HTMLElement>(`[data-word="${problem.path}"] input`)?.focus()
    }
    onTab(TABS.get(word ?? "") ?? "Settings", tag)
    return setTarget({ ...problem })
  }
  const fields = { form, setText, problems, warnings }
  const fieldsOf = (word: Form.Word) => (
    <div className={cx("grid gap-3", isWide && "md:grid-cols-2")}>
      {columns.map((each) => (
        <WordField key={each ?? ""} word={word} locale={each} {...fields} />
      ))}
    </div>
  )
  const codeOf = (word: Form.Word) => (
    <div className={cx("grid gap-3 p-4", isWide && "md:grid-cols-2")}>
      {columns.map((each) => (
        <CodeField
          key={each ?? ""}
          word={word}
          locale={each}
          isBeside={isWide}
          target={target}
          variables={variables}
          {...fields}
        />
      ))}
    </div>
  )
  return (
    <div
      className={cx(
        "grid grid-cols-1 items-start gap-5",
        isWide ? "xl:grid-cols-[minmax(0,2fr)_minmax(22rem,1fr)]" : "lg:grid-cols-2",
      )}
    >
      <div className="flex lg:hidden">
        <SegmentedControl
          label="Show"
          value={shown}
          options={[
            ["edit", "Content"],
            ["preview", problems.length === 0 ? "Preview" : `Preview (${problems.length})`],
          ]}
          onChange={setShown}
        />
      </div>
      <Panel className={cx("min-w-0 overflow-hidden", shown !== "edit" && "max-lg:hidden")}>
        <div className="flex flex-col gap-3 border-b border-line p-4">
          <Languages form={form} onForm={onForm} locale={locale} onLocale={onLocale} />
          {record.kind === "template" ? fieldsOf("subject") : undefined}
        </div>
        <Tabs
          label="Parts of the template"
          selected={tab}
          onSelect={(next) => {
            setTarget(undefined)
            onTab(next)
          }}
          tabs={[
            { name: "HTML", count: countOf(trial, "html"), content: () => codeOf("html") },
            { name: "Text", count: countOf(trial, "text"), content: () => codeOf("text") },
            ...(record.kind === "template"
              ? [{ name: "Preheader", count: countOf(trial, "preheader"), content: () => codeOf("preheader") }]
              : []),
            {
              name: "Variables",
              count: countOf(trial, "variables") + countOf(trial, Problems.SAMPLE),
              content: () => (
                <Variables
                  form={form}
                  setText={setText}
                  sample={sample}
                  onSample={setText === undefined ? undefined : onSample}
                  trial={trial}
                />
              ),
            },
            {
              name: "Settings",
              count: countOf(trial, "layout"),
              content: () => (
                <Settings kind={record.kind} form={form} setText={setText} error={error} problems={problems} />
              ),
            },
          ]}
        />
      </Panel>
      <div className={cx("min-w-0 lg:sticky lg:top-6", shown !== "preview" && "max-lg:hidden")}>
        <Preview trial={trial} locale={locale} onOpen={open} />
      </div>
    </div>
  )
}

/** Tabs of the parts that have one of their own. */
const TABS: ReadonlyMap<string, string> = new Map([
  ["html", "HTML"],
  ["text", "Text"],
  ["preheader", "Preheader"],
  ["variables", "Variables"],
  [Problems.SAMPLE, "Variables"],
])

/** Problems of a part, in any language. */
const countOf = ({ problems }: Trial, part: string): number =>
  problems.filter((each) => Problems.isAbout(each, part) || each.path.endsWith(`.${part}`)).length
