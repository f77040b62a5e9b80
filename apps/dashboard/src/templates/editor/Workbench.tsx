import { useState } from "react"
import type { TemplateRecord } from "../../api/Records.ts"
import { cx } from "../../ui/display/cx.ts"
import { Panel } from "../../ui/layout/Panel.tsx"
import { Tabs } from "../../ui/layout/Tabs.tsx"
import type * as Form from "./Form.ts"
import { Languages } from "./Languages.tsx"
import { Preview } from "./Preview.tsx"
import * as Problems from "./Problems.ts"
import { Settings } from "./Settings.tsx"
import type { Trial } from "./useTrial.ts"
import { Variables } from "./Variables.tsx"
import { CodeField, WordField } from "./WordFields.tsx"

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
  /** Whether what is typed can be rendered: not by a role that only reads. */
  readonly hasPreview: boolean
  readonly error: unknown
}

/** Texts of a template on one side, and what they become on the other. */
export const Workbench = ({
  error,
  form,
  hasPreview,
  locale,
  onForm,
  onLocale,
  onSample,
  record,
  sample,
  trial,
}: Props) => {
  // Two languages side by side need the whole width.
  const isWide = locale !== null
  const setText = onForm === undefined ? undefined : (name: string, text: string) => onForm({ ...form, [name]: text })
  const columns: ReadonlyArray<string | null> = locale === null ? [null] : [null, locale]
  const [tab, setTab] = useState("HTML")
  const fieldsOf = (word: Form.Word) => (
    <div className={cx("grid gap-3", isWide && "md:grid-cols-2")}>
      {columns.map((each) => (
        <WordField key={each ?? ""} word={word} locale={each} form={form} setText={setText} problems={trial.problems} />
      ))}
    </div>
  )
  const codeOf = (word: Form.Word) => (
    <div className={cx("grid gap-3 p-4", isWide && "md:grid-cols-2")}>
      {columns.map((each) => (
        <CodeField
          isBeside={isWide}
          key={each ?? ""}
          word={word}
          locale={each}
          form={form}
          setText={setText}
          problems={trial.problems}
        />
      ))}
    </div>
  )
  return (
    <div className={cx("grid grid-cols-1 items-start gap-5", !isWide && hasPreview && "lg:grid-cols-2")}>
      <div className="flex flex-col gap-3 sm:hidden">
        <p className="text-sm text-ink-2">Open this template on a larger screen to edit it.</p>
        <Languages form={form} onForm={undefined} locale={locale} onLocale={onLocale} />
      </div>
      <Panel className="min-w-0 overflow-hidden max-sm:hidden">
        <div className="flex flex-col gap-3 border-b border-line p-4">
          <Languages form={form} onForm={onForm} locale={locale} onLocale={onLocale} />
          {record.kind === "template" ? fieldsOf("subject") : undefined}
        </div>
        <Tabs
          label="Parts of the template"
          selected={tab}
          onSelect={setTab}
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
                  onSample={hasPreview ? onSample : undefined}
                  trial={trial}
                />
              ),
            },
            {
              name: "Settings",
              content: () => <Settings kind={record.kind} form={form} setText={setText} error={error} />,
            },
          ]}
        />
      </Panel>
      {hasPreview ? <Preview trial={trial} locale={locale} /> : undefined}
    </div>
  )
}

/** Problems of a part, in any language. */
const countOf = ({ problems }: Trial, part: string): number =>
  problems.filter((each) => Problems.isAbout(each, part) || each.path.endsWith(`.${part}`)).length
