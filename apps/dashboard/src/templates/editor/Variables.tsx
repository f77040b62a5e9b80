import { RotateCcw, WandSparkles } from "lucide-react"
import { Button } from "../../ui/controls/Button.tsx"
import { CodeEditor } from "./CodeEditor.tsx"
import type * as Form from "./Form.ts"
import * as Problems from "./Problems.ts"
import type { Trial } from "./useTrial.ts"

interface Props {
  readonly form: Form.Form
  readonly setText: ((name: string, text: string) => void) | undefined
  /** Values as typed; undefined if they are those of the schema. */
  readonly sample: string | undefined
  readonly onSample: ((sample: string | undefined) => void) | undefined
  readonly trial: Trial
}

/** Schema by which variables are checked, and the values by which the preview is rendered. */
export const Variables = ({ form, onSample, sample, setText, trial }: Props) => {
  const { problems, validation } = trial
  const suggested = validation?.suggested_variables
  return (
    <div className="flex flex-col gap-5 p-4">
      <section className="flex flex-col gap-2">
        <header className="flex flex-wrap items-center gap-2">
          <h3 className="grow text-sm font-medium">Schema</h3>
          {setText === undefined || suggested === undefined ? undefined : (
            <Button
              small
              icon={<WandSparkles size={14} />}
              onClick={() => setText("variables", JSON.stringify(suggested, null, 2))}
            >
              Suggest from the template
            </Button>
          )}
        </header>
        <p className="text-xs text-ink-3">
          JSON Schema. Requests with other variables are refused. Without a schema, none is checked.
        </p>
        <CodeEditor
          label="Schema"
          language="json"
          className="h-64"
          value={form["variables"] ?? ""}
          onChange={setText === undefined ? undefined : (text) => setText("variables", text)}
          problems={problems.filter((each) => Problems.isAbout(each, "variables"))}
        />
      </section>
      {onSample === undefined ? undefined : (
        <section className="flex flex-col gap-2">
          <header className="flex flex-wrap items-center gap-2">
            <h3 className="grow text-sm font-medium">Sample values</h3>
            {sample === undefined ? undefined : (
              <Button small icon={<RotateCcw size={14} />} onClick={() => onSample(undefined)}>
                Take those of the schema
              </Button>
            )}
          </header>
          <p className="text-xs text-ink-3">Values of the preview and of tests. They are not stored.</p>
          <CodeEditor
            label="Sample values"
            language="json"
            className="h-48"
            value={sample ?? JSON.stringify(validation?.sample ?? {}, null, 2)}
            onChange={onSample}
            problems={problems.filter((each) => Problems.isAbout(each, Problems.SAMPLE))}
          />
        </section>
      )}
    </div>
  )
}
