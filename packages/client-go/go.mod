module waybill.example/waybill

go 1.19
