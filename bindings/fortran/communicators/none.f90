! The library was built without MPI: there is nothing to make communicators of.
module weft_communicators_module
  implicit none
  private
end module
