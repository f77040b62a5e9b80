import { Button } from "../ui/controls/Button.tsx"
import { CopyField } from "../ui/controls/CopyButton.tsx"

export const SigningSecret = ({ onDone, secret }: { readonly secret: string; readonly onDone: () => void }) => (
  <div className="flex flex-col gap-4 p-5">
    <CopyField text={secret} label="Copy signing secret" />
    <footer className="flex justify-end">
      <Button variant="primary" onClick={onDone}>
        Done
      </Button>
    </footer>
  </div>
)
