ccn.mesh @m ["dp" = 2]
ccn.program @f(%g: tensor<6xf32> {ccn.name = "g"}) {
  ccn.return
}
