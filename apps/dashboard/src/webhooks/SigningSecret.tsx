import { Button } from "../ui/controls/Button.tsx"
import { CopyField } from "../ui/controls/CopyButton.tsx"

export const Secret = ({ onDone, secret }: { readonly secret: string; readonly onDone: () => void }) => (
  <div className="flex flex-col gap-4 p-5">
    <CopyField text={secret} label="Copy the secret" />
    <footer className="flex justify-end">
      <Button look="solid" onClick={onDone}>
        I have kept it
      </Button>
    </footer>
  </div>
)
