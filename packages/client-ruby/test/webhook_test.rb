# frozen_string_literal: true

require_relative "client_test"

class WebhookTest < WaybillTest
  def verify(name, secret: CALLS[:secret], body: CALLS[:body], **change)
    headers = {
      "Webhook-Id" => CALLS[:id], "Webhook-Timestamp" => CALLS[:timestamp],
      "webhook-signature" => CALLS[:signatures][name], **change.transform_keys(&:to_s)
    }
    Waybill.verify_webhook(body, headers, secret)
  end

  def test_valid_call
    event = verify(:valid)
    assert_equal ["email.delivered", { subject: "Grüße" }], event.values_at(:type, :data)
    rack = {
      "HTTP_WEBHOOK_ID" => CALLS[:id], "HTTP_WEBHOOK_TIMESTAMP" => CALLS[:timestamp],
      "HTTP_WEBHOOK_SIGNATURE" => CALLS[:signatures][:valid]
    }
    assert_equal event, Waybill.verify_webhook(CALLS[:body].b, rack, CALLS[:secret])
  end

  def test_both_secrets_during_a_rotation
    [CALLS[:secret], CALLS[:other], ["whsec_b3RoZXI=", CALLS[:other]]].each do |secret|
      assert_equal CALLS[:id], verify(:rotated, secret: secret)[:id]
    end
  end

  def test_refused_calls
    [
      -> { verify(:valid, body: "#{CALLS[:body]} ") },
      -> { verify(:valid, secret: CALLS[:other]) },
      -> { verify(:valid, secret: []) },
      -> { verify(:valid, secret: "whsec_*") },
      -> { verify(:unsigned) },
      -> { verify(:empty, secret: "") },
      -> { verify(:empty, secret: "whsec_") },
      -> { verify(:valid, "Webhook-Id": "") },
      -> { verify(:valid, "Webhook-Timestamp": "yesterday") },
      -> { verify(:old, "Webhook-Timestamp": CALLS[:old_timestamp]) },
      -> { Waybill.verify_webhook(CALLS[:body], {}, CALLS[:secret]) }
    ].each do |call|
      error = refused(&call)
      assert_equal %w[unauthorized webhook_not_verified], [error.code, error.reason]
    end
  end
end
