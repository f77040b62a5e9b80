import { Pin, RotateCcw, WandSparkles } from "lucide-react"
import { Button } from "../../ui/controls/Button.tsx"
import { SelectField } from "../../ui/controls/Field.tsx"
import { CodeEditor } from "./code/CodeEditor.tsx"
import * as Form from "../content/Form.ts"
import * as Problems from "../content/Problems.ts"
import type { Trial } from "./useTrial.ts"

interface Props {
  readonly form: Form.Form
  readonly setText: ((name: string, text: string) => void) | undefined
  /** Values as typed; undefined if they are those of the schema. */
  readonly sample: string | undefined
  readonly onSample: ((sample: string | undefined) => void) | undefined
  readonly trial: Trial
}

/** Sets of values that are kept, of the 20 that a schema may have. */
const MAX_SETS = 20

/** Schema by which variables are checked, and the values by which the preview is rendered. */
export const Variables = ({ form, onSample, sample, setText, trial }: Props) => {
  const { problems, validation } = trial
  const schema = Form.objectIn(form["variables"])
  const sets = Array.isArray(schema?.["examples"]) ? schema["examples"] : []
  const shown = sample ?? JSON.stringify(validation?.sample ?? {}, null, 2)
  const typed = Form.objectIn(sample)
  const keep =
    setText === undefined || schema === undefined || typed === undefined
      ? undefined
      : () => {
          const others = sets.filter((each) => JSON.stringify(each) !== JSON.stringify(typed)).slice(0, MAX_SETS - 1)
          setText("variables", JSON.stringify({ ...schema, examples: [typed, ...others] }, null, 2))
          onSample?.(undefined)
        }
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
            {sets.length < 2 ? undefined : (
              <SelectField
                label="Set"
                value={String(sets.findIndex((each) => JSON.stringify(each) === JSON.stringify(Form.objectIn(shown))))}
                onChange={(event) => onSample(JSON.stringify(sets[Number(event.target.value)] ?? {}, null, 2))}
                options={[[-1, "Others"], ...sets.map((_, nth) => [nth, `Set ${nth + 1}`] as const)]}
              />
            )}
            {keep === undefined ? undefined : (
              <Button small icon={<Pin size={14} />} onClick={keep}>
                Keep with the schema
              </Button>
            )}
            {sample === undefined ? undefined : (
              <Button small icon={<RotateCcw size={14} />} onClick={() => onSample(undefined)}>
                Take those of the schema
              </Button>
            )}
          </header>
          <p className="text-xs text-ink-3">
            Values of the preview and of tests. Kept ones are `examples` of the schema, and are saved with it.
          </p>
          <CodeEditor
            label="Sample values"
            language="json"
            className="h-48"
            value={shown}
            onChange={onSample}
            problems={problems.filter((each) => Problems.isAbout(each, Problems.SAMPLE))}
          />
        </section>
      )}
    </div>
  )
}
